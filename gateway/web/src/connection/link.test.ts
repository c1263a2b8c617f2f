import { beforeEach, expect, test, vi } from "vitest";

import type { Link as LinkState } from "../state/model";
import type { ServerEvent } from "../wire/generated";
import { Link } from "./link";
import { InvalidTransition, nextLink } from "./states";
import { FakeSocket } from "./testing";

let states: LinkState[];
let frames: ServerEvent[];
let link: Link;

beforeEach(() => {
  vi.useFakeTimers();
  FakeSocket.all = [];
  states = [];
  frames = [];
  link = new Link(
    "ws://here/ws/chat",
    {
      onState: (state) => states.push(state),
      onOpen: () => undefined,
      onFrame: (frame) => frames.push(frame),
    },
    FakeSocket.make,
  );
  link.start();
});

test("it connects, and hands on what it knows", () => {
  FakeSocket.last.open();
  FakeSocket.last.receive({ type: "pong" });
  FakeSocket.last.onmessage?.({ data: '{"type":"hologram"}' });
  FakeSocket.last.onmessage?.({ data: new ArrayBuffer(2) });
  expect(states).toEqual(["connecting", "open"]);
  expect(frames).toEqual([{ type: "pong" }]);
});

test("it waits longer each time, and starts afresh once it has heard something", () => {
  FakeSocket.last.drop();
  vi.advanceTimersByTime(250);
  FakeSocket.last.drop();
  vi.advanceTimersByTime(250);
  expect(FakeSocket.all).toHaveLength(2);
  vi.advanceTimersByTime(250);
  expect(FakeSocket.all).toHaveLength(3);
  FakeSocket.last.open();
  FakeSocket.last.receive({ type: "pong" });
  FakeSocket.last.drop();
  vi.advanceTimersByTime(250);
  expect(FakeSocket.all).toHaveLength(4);
});

test("it does not wait when told to hurry", () => {
  FakeSocket.last.drop();
  link.hurry();
  expect(FakeSocket.all).toHaveLength(2);
  vi.advanceTimersByTime(10_000);
  expect(FakeSocket.all).toHaveLength(2);
});

test("a socket that answers no ping is given up", () => {
  const first = FakeSocket.last;
  first.open();
  first.receive({ type: "pong" });
  vi.advanceTimersByTime(20_000);
  expect(first.sent).toEqual([{ type: "ping" }, { type: "ping" }]);
  vi.advanceTimersByTime(10_000);
  expect(first.closed).toBe(true);
  expect(states.at(-1)).toBe("waiting");
});

test("nothing is sent without an open socket", () => {
  expect(link.send({ type: "ping" })).toBe(false);
  FakeSocket.last.open();
  expect(link.send({ type: "ping" })).toBe(true);
  link.stop();
  expect(link.send({ type: "ping" })).toBe(false);
  expect(states.at(-1)).toBe("idle");
});

test("an event that a state does not know is loud", () => {
  expect(() => nextLink("idle", "opened")).toThrow(InvalidTransition);
});
