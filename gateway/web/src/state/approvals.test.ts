import { describe, expect, test } from "vitest";

import type { ApprovalRequest, ApprovalView } from "../wire/generated";
import { approvalOf, mergeApprovals, requestApproval, settleApproval } from "./approvals";
import { newTurn, type Turn } from "./model";

const view: ApprovalView = {
  approval_id: "a1",
  call_id: "c1",
  tool: "remember_this",
  args: { text: "x" },
  reason: "It adds something.",
  expires: "2025-01-01T00:01:00Z",
  state: "open",
};
const about = { query_id: "q1", session_id: "s1" };
const request: ApprovalRequest = { type: "approval_request", ...about, ...view };
const turn: Turn = newTurn({
  queryId: "q1",
  sessionId: "s1",
  query: "?",
  createdAt: "",
  phase: "running",
});

function settled(state: string) {
  const asked = requestApproval(turn, request);
  return settleApproval(asked, { type: "approval_result", ...about, approval_id: "a1", state })
    .approvals[0];
}

test.each([
  ["approved", true],
  ["taken", true],
  ["denied", false],
  ["expired", null],
  ["void", null],
  ["something newer", null],
])("%s closes the card", (state, answered) => {
  expect(settled(state)).toMatchObject({ answered, closed: true });
  expect(approvalOf({ ...view, state })).toMatchObject({ answered, closed: true });
});

test("the first answer counts, whatever this tab had chosen", () => {
  const asked = requestApproval(turn, request);
  const chosen = { ...asked, approvals: asked.approvals.map((a) => ({ ...a, here: true })) };
  const result = { type: "approval_result" as const, ...about, approval_id: "a1", state: "denied" };
  const [after] = settleApproval(chosen, result).approvals;
  expect(after).toMatchObject({ answered: false, elsewhere: true });
  const mine = settleApproval(chosen, { ...result, state: "taken" }).approvals[0];
  expect(mine).toMatchObject({ answered: true, elsewhere: false });
});

describe("a snapshot", () => {
  test("brings back what is open, and what was answered meanwhile", () => {
    const known = requestApproval(turn, request).approvals;
    const merged = mergeApprovals(
      [
        { ...view, state: "denied" },
        { ...view, approval_id: "a2" },
      ],
      known,
    );
    expect(merged.map((a) => [a.approvalId, a.closed])).toEqual([
      ["a1", true],
      ["a2", false],
    ]);
  });

  test("that is older than an answer opens nothing again", () => {
    const known = settleApproval(requestApproval(turn, request), {
      type: "approval_result",
      ...about,
      approval_id: "a1",
      state: "approved",
    }).approvals;
    expect(mergeApprovals([view], known)).toEqual(known);
  });

  test("that is older than a request keeps it", () => {
    const known = requestApproval(turn, request).approvals;
    expect(mergeApprovals([], known)).toEqual(known);
  });
});
