// How do the saved turns of a session and what was seen live become one list?

import type { TurnView } from "../wire/rest";
import { type Ending, newTurn, type Phase, type Turn } from "./model";
import { approvalOf } from "./approvals";

const PHASES: Record<TurnView["status"], Phase> = {
  received: "accepted",
  claimed: "running",
  waiting: "running",
  answered: "answered",
  failed: "failed",
  cancelled: "cancelled",
};

const IMPLIED = { answered: "stop", failed: "error", cancelled: "cancelled" };

export function turnFromRecord(sessionId: string, record: TurnView): Turn {
  return {
    ...newTurn({
      queryId: record.query_id,
      sessionId,
      query: record.query,
      createdAt: record.created_at,
      phase: phaseOf(record),
    }),
    versions: record.versions,
    position: record.position,
    answer: record.answer,
    thinking: record.thinking,
    toolCalls: record.tool_calls,
    approvals: record.approvals.map(approvalOf),
    ending: endingOf(record),
    grade: record.grade,
    sentiment: record.sentiment,
  };
}

function phaseOf(record: TurnView): Phase {
  return record.status === "received" && record.position > 0 ? "queued" : PHASES[record.status];
}

function endingOf(record: TurnView): Ending | null {
  if (record.status === "received" || record.status === "claimed" || record.status === "waiting") {
    return null;
  }
  return {
    finishReason: record.finish_reason === "" ? IMPLIED[record.status] : record.finish_reason,
    reason: record.reason,
    model: record.model,
    demo: record.demo,
    promptTokens: record.prompt_tokens,
    answerTokens: record.answer_tokens,
    numCtx: record.num_ctx,
    leftOut: record.left_out,
    firstTokenS: record.first_token_s,
    seconds: record.seconds,
    memories: [...record.facts, ...record.recalled],
    notRecalled: record.not_recalled,
    groundedness: record.groundedness,
  };
}

/** The branch as it is saved, then what only this client knows: questions that have not arrived. */
export function mergeHistory(
  sessionId: string,
  live: readonly Turn[],
  records: readonly TurnView[],
): readonly Turn[] {
  const left = new Map(live.map((turn) => [turn.queryId, turn]));
  const saved = records.map((record) => {
    const known = left.get(record.query_id);
    left.delete(record.query_id);
    return mergeTurn(sessionId, known, record);
  });
  return [...saved, ...[...left.values()].filter((turn) => !turn.accepted)];
}

function mergeTurn(sessionId: string, live: Turn | undefined, record: TurnView): Turn {
  const saved = turnFromRecord(sessionId, record);
  if (live === undefined) {
    return saved;
  }
  if (live.ending !== null) {
    const { versions, grade, sentiment } = saved;
    return { ...live, versions, grade, sentiment };
  }
  if (saved.ending !== null) {
    return { ...saved, thinkingMs: live.thinkingMs };
  }
  // Both are open: what was streamed is never older than the journal.
  const { versions, phase } = saved;
  return live.accepted
    ? { ...live, versions }
    : { ...live, versions, accepted: true, phase, error: null };
}
