import { afterEach, expect, test, vi } from "vitest";

import { newId } from "./ids";

const UUID4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

afterEach(() => vi.unstubAllGlobals());

test("an id is a version 4 UUID, and another one each time", () => {
  expect(newId()).toMatch(UUID4);
  expect(newId()).not.toBe(newId());
});

test("without a secure context it is one too", () => {
  vi.stubGlobal("crypto", {
    getRandomValues: (bytes: Uint8Array) => bytes.fill(0xff),
  });
  expect(newId()).toMatch(UUID4);
});
