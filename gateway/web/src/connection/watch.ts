// What happened in a session while its saved turns were fetched?

import type { ServerEvent } from "../wire/generated";

/** One watched session. Live events wait while a fetch is under way, and are replayed on top of it. */
export class Watch {
  private fetches = 0;
  private fetching = false;
  private waiting: ServerEvent[] = [];
  private resumedAt = -Infinity;

  /** A new fetch begins; an older one that is still under way no longer counts. */
  begin(): number {
    this.fetches += 1;
    this.fetching = true;
    return this.fetches;
  }

  isCurrent(fetch: number): boolean {
    return this.fetching && fetch === this.fetches;
  }

  /** The fetch is over, well or not: what waited, in its order. */
  end(): ServerEvent[] {
    const waiting = this.waiting;
    this.fetching = false;
    this.waiting = [];
    return waiting;
  }

  /** Whether the event has to wait. */
  hold(frame: ServerEvent): boolean {
    if (this.fetching) {
      this.waiting.push(frame);
    }
    return this.fetching;
  }

  /** Whether a gap may be asked for now; not for every chunk that comes behind it. */
  mayResume(at: number, everyMs: number): boolean {
    if (at - this.resumedAt < everyMs) {
      return false;
    }
    this.resumedAt = at;
    return true;
  }
}
