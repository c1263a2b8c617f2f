import { expect, test } from "vitest";

import { turn } from "./testing";
import {
  bytes,
  duration,
  endWords,
  humanised,
  OUTCOMES,
  outcomeWords,
  progressOf,
  seconds,
} from "./words";

test.each([
  [0.0004, "1 ms"],
  [0.042, "42 ms"],
  [0.1, "0.1 s"],
  [3.14, "3.1 s"],
  [42.4, "42 s"],
  [90, "1 min 30 s"],
])("%d seconds is %s", (value, words) => {
  expect(seconds(value)).toBe(words);
});

test.each([
  [0.4, "0 s"],
  [59, "59 s"],
  [3600, "1 h"],
  [3725, "1 h 2 min"],
  [200_000, "2 d 7 h"],
])("%d seconds up is %s", (value, words) => {
  expect(duration(value)).toBe(words);
});

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1_120_000_000, "1.1 GB"],
  [46_000_000, "46 MB"],
])("%d bytes is %s", (value, words) => {
  expect(bytes(value)).toBe(words);
});

test("names that nobody wrote words for are made readable", () => {
  expect(humanised("AWAITING_SOMETHING")).toBe("Awaiting something");
  expect(outcomeWords("half_done")).toBe("half done");
  expect(progressOf(turn({ agentState: "AWAITING_SOMETHING" }))).toBe("Awaiting something");
});

test.each([
  ...["ok", "unknown", "disabled", "unavailable", "invalid_arguments", "denied"],
  ...["timeout", "crashed", "cancelled", "failed"],
])("the outcome %s has words of its own", (outcome) => {
  expect(Object.keys(OUTCOMES)).toContain(outcome);
});

test("a queued turn says how many come before it", () => {
  expect(progressOf(turn({ phase: "queued", position: 1 }))).toBe("Queued, next in line");
  expect(progressOf(turn({ phase: "queued", position: 3 }))).toBe("Queued, 3 before it");
});

test("an end is told in words, a plain one not at all", () => {
  const ending = { reason: "", model: "m", demo: false, promptTokens: null, answerTokens: null };
  const times = { firstTokenS: null, seconds: null };
  const rest = { numCtx: null, leftOut: 0, memories: [], notRecalled: "", groundedness: "" };
  const ended = (finishReason: string, reason = "") =>
    endWords(
      turn({ phase: "answered", ending: { ...ending, ...times, ...rest, finishReason, reason } }),
    );
  expect(ended("stop")).toBeNull();
  expect(ended("length")?.text).toContain("length");
  expect(ended("incomplete", "The model server died.")).toEqual({
    tone: "error",
    text: "The model server died.",
  });
  expect(endWords(turn({ phase: "cancelled" }))?.text).toBe("Not sent");
  const error = { code: "x", message: "No model answers.", retryable: true };
  expect(endWords(turn({ phase: "failed", error }))?.text).toBe("No model answers.");
});
