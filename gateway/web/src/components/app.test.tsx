import { act, render, screen } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";

import { ChatClient } from "../connection/client";
import { rest } from "../connection/rest";
import { FakeSocket } from "../connection/testing";
import { createStore } from "../state/store";
import { App } from "./app";
import { startWords } from "./chips";

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("fetch", () => Promise.reject(new Error("down")));
  vi.stubGlobal("matchMedia", () => ({
    matches: false,
    addEventListener: vi.fn(),
    removeEventListener: vi.fn(),
  }));
  return () => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  };
});

test("after a while without an answer the page says how to start LoCAL2, until it is back", async () => {
  const store = createStore();
  const client = new ChatClient({ store, rest, url: "", makeSocket: FakeSocket.make });
  client.start();
  const page = render(<App local2={{ store, client }} />).container;
  act(() => FakeSocket.last.open());
  act(() => FakeSocket.last.drop());
  expect(screen.getByText("Reconnecting…")).toBeDefined();
  expect(screen.queryByText(/is not running/)).toBeNull();
  await act(() => vi.advanceTimersByTimeAsync(10_000));
  expect(page.querySelector(".away")?.textContent).toContain("./scripts/run");
  expect(screen.queryByText("Reconnecting…")).toBeNull();
  expect(page.querySelector(".app")?.getAttribute("data-away")).toBe("true");
  act(() => FakeSocket.last.open());
  expect(screen.queryByText(/is not running/)).toBeNull();
  client.stop();
});

test("how it is started is said as it was called", () => {
  expect(startWords("")).toBe("Start it with `./scripts/run` (or `local2 up`).");
  expect(startWords("local2")).toBe("Start it with `local2 up`.");
  expect(startWords("/x/scripts/run")).toBe("Start it with `/x/scripts/run`.");
});
