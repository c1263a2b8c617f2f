// What can be read off the state?

import type { Position } from "../wire/generated";
import type { AppState, Session, Turn } from "./model";

/** Whether nothing more is expected for this turn. */
export function isSettled(turn: Turn): boolean {
  return turn.phase === "answered" || turn.phase === "failed" || turn.phase === "cancelled";
}

/** The turn that runs, else the first that waits. */
export function activeTurn(session: Session | undefined): Turn | undefined {
  const open = session?.turns.filter((turn) => !isSettled(turn)) ?? [];
  return open.find((turn) => turn.phase === "running") ?? open[0];
}

export function openSessionIds(state: AppState): string[] {
  return Object.values(state.sessions)
    .filter((session) => session.turns.some((turn) => !isSettled(turn)))
    .map((session) => session.id);
}

/** The last chunk that this client has of the turn that streams. */
export function lastPosition(session: Session | undefined): Position | null {
  const turn = session?.turns.findLast((candidate) => !isSettled(candidate) && candidate.n >= 0);
  return turn === undefined ? null : { query_id: turn.queryId, attempt: turn.attempt, n: turn.n };
}

export function hasGap(session: Session | undefined): boolean {
  return session?.turns.some((turn) => turn.gap && !isSettled(turn)) ?? false;
}

/** Whether asking the same question again makes sense. */
export function canRetry(turn: Turn): boolean {
  if (turn.phase === "failed" || turn.phase === "cancelled") {
    return true;
  }
  return turn.ending?.finishReason === "incomplete";
}
