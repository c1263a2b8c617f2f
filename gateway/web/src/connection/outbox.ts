// Which questions has the gateway not yet accepted?

import type { Query, ServerEvent } from "../wire/generated";

/** Asking again is safe (the same query_id is one turn), so silence is answered by asking again. */
const ASK_AGAIN_MS = 10_000;

interface Entry {
  readonly frame: Query;
  sentAt: number;
}

export class Outbox {
  private readonly entries = new Map<string, Entry>();

  add(queryId: string, frame: Query, at: number): void {
    this.entries.set(queryId, { frame, sentAt: at });
  }

  /** Whether it was still waiting. */
  remove(queryId: string): boolean {
    return this.entries.delete(queryId);
  }

  /** Any frame about a turn means that its question arrived, a refusal too. */
  heard(frame: ServerEvent): void {
    if ("query_id" in frame && frame.query_id !== null) {
      this.entries.delete(frame.query_id);
    }
  }

  /** What to send once more: everything after a reconnect, else what has waited for long. */
  due(at: number, reconnected: boolean): Query[] {
    const due = [...this.entries.values()].filter(
      (entry) => reconnected || at - entry.sentAt >= ASK_AGAIN_MS,
    );
    for (const entry of due) {
      entry.sentAt = at;
    }
    return due.map((entry) => entry.frame);
  }
}
