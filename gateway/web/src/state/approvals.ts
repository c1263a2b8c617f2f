// What does the UI know of what a tool asked, and of the answer?

import type { ApprovalRequest, ApprovalResult, ApprovalView } from "../wire/generated";
import type { Approval, Turn } from "./model";

const ANSWERS: Readonly<Record<string, boolean>> = { approved: true, taken: true, denied: false };

export function approvalOf(view: ApprovalView): Approval {
  return {
    approvalId: view.approval_id,
    tool: view.tool,
    args: view.args,
    reason: view.reason,
    expires: view.expires,
    answered: ANSWERS[view.state] ?? null,
    closed: view.state !== "open",
    expired: view.state === "expired",
    here: null,
    elsewhere: false,
  };
}

/** A request may come again; what is known of it stays. */
export function requestApproval(turn: Turn, frame: ApprovalRequest): Turn {
  if (turn.approvals.some((approval) => approval.approvalId === frame.approval_id)) {
    return turn;
  }
  return { ...turn, approvals: [...turn.approvals, approvalOf({ ...frame, state: "open" })] };
}

/** What stands, whatever this tab had chosen: the first answer counts. */
export function settleApproval(turn: Turn, frame: ApprovalResult): Turn {
  const answered = ANSWERS[frame.state] ?? null;
  return {
    ...turn,
    approvals: turn.approvals.map((approval) =>
      approval.approvalId === frame.approval_id
        ? {
            ...approval,
            ...{ answered, closed: true, expired: frame.state === "expired" },
            elsewhere: answered !== null && answered !== approval.here,
          }
        : approval,
    ),
  };
}

/** A snapshot knows all that was asked; what only this tab knows is kept, and what is closed stays so. */
export function mergeApprovals(
  views: readonly ApprovalView[],
  known: readonly Approval[],
): readonly Approval[] {
  const closed = new Map(known.filter((a) => a.closed).map((a) => [a.approvalId, a]));
  const said = views.map((view) => closed.get(view.approval_id) ?? approvalOf(view));
  const ids = new Set(said.map((approval) => approval.approvalId));
  return [...said, ...known.filter((approval) => !ids.has(approval.approvalId))];
}
