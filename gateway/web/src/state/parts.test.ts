import { expect, test } from "vitest";

import { partsOf } from "./parts";
import { turn } from "./testing";

const call = {
  call_id: "c1",
  tool: "t",
  args: {},
  outcome: "running",
  result: "",
  sources: [],
  seconds: 0,
  untrusted: false,
};

test("thinking, calls, approvals and answer come in this order", () => {
  const approval = {
    approvalId: "a",
    tool: "t",
    args: {},
    reason: "",
    expires: "",
    answered: null,
    closed: false,
    ...{ expired: false, here: null, elsewhere: false },
  };
  const parts = partsOf(
    turn({ thinking: "Hm", answer: "So", toolCalls: [call], approvals: [approval] }),
  );
  expect(parts.map((part) => part.kind)).toEqual(["thinking", "tool", "approval", "answer"]);
});

test("thinking is live until an answer comes, the answer until the turn is over", () => {
  expect(partsOf(turn({ thinking: "Hm" }))).toMatchObject([{ live: true }]);
  expect(partsOf(turn({ thinking: "Hm", answer: "So" }))).toMatchObject([
    { live: false },
    { live: true },
  ]);
  expect(partsOf(turn({ answer: "So", phase: "answered" }))).toMatchObject([{ live: false }]);
});

test("a turn without anything has no parts", () => {
  expect(partsOf(turn())).toEqual([]);
});
