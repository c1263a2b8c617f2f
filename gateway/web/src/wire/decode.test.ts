import { expect, test } from "vitest";

import { decodeServerEvent } from "./decode";

test("a known frame is passed on as it is", () => {
  expect(decodeServerEvent('{"type":"pong"}')).toEqual({ type: "pong" });
});

test("a frame is checked, and filled with defaults", () => {
  const frame = { type: "agent_state", query_id: "q", session_id: "s", agent: "a", state: "X" };
  expect(decodeServerEvent(JSON.stringify(frame))).toEqual({ ...frame, note: "" });
  expect(decodeServerEvent(JSON.stringify({ ...frame, state: null }))).toBeNull();
});

test.each([
  '{"type":"constructor"}',
  '{"type":"response","answer":{}}',
  "",
  "not json",
  "null",
  "3",
  "[]",
  "{}",
  '{"type":7}',
  '{"type":"from_the_future"}',
])("%j is passed over", (text) => {
  expect(decodeServerEvent(text)).toBeNull();
});
