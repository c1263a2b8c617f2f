import { expect, test } from "vitest";

import { decodeServerEvent } from "./decode";

test("a known frame is passed on as it is", () => {
  expect(decodeServerEvent('{"type":"pong"}')).toEqual({ type: "pong" });
});

test.each(["", "not json", "null", "3", "[]", "{}", '{"type":7}', '{"type":"from_the_future"}'])(
  "%j is passed over",
  (text) => {
    expect(decodeServerEvent(text)).toBeNull();
  },
);
