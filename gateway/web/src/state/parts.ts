// Which parts make up the assistant's side of a turn, from top to bottom?

import type { ToolCallView } from "../wire/generated";
import type { Approval, Turn } from "./model";
import { isSettled } from "./selectors";

export type Part =
  | {
      readonly kind: "thinking";
      readonly key: string;
      readonly text: string;
      readonly live: boolean;
      readonly since: number | null;
      readonly ms: number | null;
    }
  | {
      readonly kind: "tool";
      readonly key: string;
      readonly call: ToolCallView;
      /** The turn is over, so a call that still seems to run does not. */
      readonly over: boolean;
    }
  | {
      readonly kind: "approval";
      readonly key: string;
      readonly sessionId: string;
      readonly approval: Approval;
      readonly over: boolean;
    }
  | {
      readonly kind: "answer";
      readonly key: string;
      readonly text: string;
      readonly live: boolean;
    };

/** Whether the thinking goes on; after a snapshot nobody knows since when. */
export function isThinking(turn: Turn): boolean {
  if (isSettled(turn) || turn.answer !== "") {
    return false;
  }
  return turn.thinkingSince !== null || (turn.thinking !== "" && turn.toolCalls.length === 0);
}

export function partsOf(turn: Turn): readonly Part[] {
  const over = isSettled(turn);
  const parts: Part[] = [];
  if (turn.thinking !== "") {
    parts.push({
      kind: "thinking",
      key: "thinking",
      text: turn.thinking,
      live: isThinking(turn),
      since: turn.thinkingSince,
      ms: turn.thinkingMs,
    });
  }
  for (const call of turn.toolCalls) {
    parts.push({ kind: "tool", key: `tool ${call.call_id}`, call, over });
  }
  for (const approval of turn.approvals) {
    const key = `approval ${approval.approvalId}`;
    parts.push({ kind: "approval", key, sessionId: turn.sessionId, approval, over });
  }
  if (turn.answer !== "") {
    parts.push({ kind: "answer", key: "answer", text: turn.answer, live: !over });
  }
  return parts;
}
