// What does the UI ask of the gateway, and how do its answers become state?

import { hasGap, lastPosition, openSessionIds } from "../state/selectors";
import { adoptModel, readModel, validModel } from "../state/choices";
import type { Turn } from "../state/model";
import type { Store } from "../state/store";
import type { Compaction, Query, Resume, ServerEvent, SessionChanged } from "../wire/generated";
import { newId } from "./ids";
import { Link, type SocketFactory } from "./link";
import { Outbox } from "./outbox";
import { messageOf, type Rest, RestError } from "./rest";
import { Watch } from "./watch";

const GAP_RESUME_MS = 500;
const HOUSEKEEPING_MS = 5000;

/** Titles, times and the running mark of the list follow from these; several often come at once. */
const LIST_CHANGES = new Set<ServerEvent["type"]>([
  "accepted",
  "response",
  "error",
  "session_changed",
]);
const LIST_AFTER_MS = 100;

/** Where a question is asked that is not simply the next one. */
interface Place {
  readonly inPlaceOf: string;
  readonly after: string;
}

export interface ClientOptions {
  store: Store;
  rest: Rest;
  url: string;
  makeSocket?: SocketFactory;
  now?: () => number;
  /** Calls back once, soon: frames that came meanwhile are applied together. */
  soon?: (run: () => void) => void;
}

export class ChatClient {
  readonly rest: Rest;
  private readonly store: Store;
  private readonly link: Link;
  private readonly outbox = new Outbox();
  private readonly watches = new Map<string, Watch>();
  private readonly now: () => number;
  private readonly soon: (run: () => void) => void;
  private arrived: ServerEvent[] = [];
  private housekeeping: ReturnType<typeof setInterval> | undefined;
  private listTimer: ReturnType<typeof setTimeout> | undefined;
  private current: string | null = null;

  constructor(options: ClientOptions) {
    this.store = options.store;
    this.rest = options.rest;
    this.now = options.now ?? Date.now;
    this.soon = options.soon ?? nextFrame;
    this.link = new Link(
      options.url,
      {
        onState: (link) => this.store.dispatch({ type: "link", link }),
        onOpen: () => this.opened(),
        onFrame: (frame) => this.received(frame),
      },
      options.makeSocket,
    );
  }

  start(): void {
    this.link.start();
    this.housekeeping = setInterval(() => this.tidy(), HOUSEKEEPING_MS);
  }

  stop(): void {
    clearInterval(this.housekeeping);
    clearTimeout(this.listTimer);
    this.link.stop();
  }

  hurry(): void {
    this.link.hurry();
  }

  // -------------------------------------------------------------------------- what the user does

  /** Show a session: fetch it, and follow it from here on. */
  open(sessionId: string | null): void {
    this.current = sessionId;
    if (sessionId !== null && !this.watches.has(sessionId)) {
      this.watches.set(sessionId, new Watch());
      this.store.dispatch({ type: "session_loading", sessionId });
      if (this.link.isOpen) {
        void this.sync(sessionId);
      }
    }
  }

  reload(sessionId: string): void {
    this.store.dispatch({ type: "session_loading", sessionId });
    void this.sync(sessionId);
  }

  /** A new session, empty and known; rejects with words where the gateway does not make one. */
  async createSession(incognito = false): Promise<string> {
    const sessionId = await this.rest.createSession(incognito);
    this.watches.set(sessionId, new Watch());
    this.store.dispatch({ type: "session_created", sessionId, incognito });
    adoptModel(sessionId);
    return sessionId;
  }

  ask(sessionId: string, query: string): string {
    return this.submit(sessionId, query);
  }

  /** Asks again, perhaps in other words: a new version in the turn's place; nothing is lost. */
  askAgain(turn: Turn, query: string = turn.query): string {
    const turns = this.store.get().sessions[turn.sessionId]?.turns ?? [];
    const place = turns.findIndex(({ queryId }) => queryId === turn.queryId);
    const before = turns.slice(0, Math.max(0, place)).findLast(({ accepted }) => accepted);
    return this.submit(turn.sessionId, query, {
      inPlaceOf: turn.queryId,
      after: before?.queryId ?? "",
    });
  }

  /**
   * Asks once more: in its place, but as the same turn where it is not known whether the gateway has it, so
   * that it cannot be answered twice.
   */
  retry(turn: Turn): void {
    const { queryId, sessionId, query, after } = turn;
    if (turn.accepted) {
      this.askAgain(turn);
      return;
    }
    this.store.dispatch({ type: "asked_again", queryId, sessionId });
    this.send(queryId, sessionId, query, after);
  }

  /** Show the branch on which a turn is; rejects with words. */
  async showBranch(sessionId: string, queryId: string): Promise<void> {
    await this.rest.showBranch(sessionId, queryId);
    await this.sync(sessionId);
  }

  /** With all that follows it; rejects with words. */
  async removeTurn({ sessionId, queryId }: Turn): Promise<void> {
    await this.rest.deleteTurn(sessionId, queryId);
    await this.sync(sessionId);
  }

  stopTurn(turn: Turn): void {
    const { queryId, sessionId } = turn;
    if (!this.link.isOpen && this.outbox.remove(queryId)) {
      this.store.dispatch({ type: "withdrawn", queryId, sessionId });
      return;
    }
    this.store.dispatch({ type: "stopping", queryId, sessionId });
    this.link.send({ type: "stop", query_id: queryId });
  }

  approve(sessionId: string, approvalId: string, approved: boolean): void {
    if (this.link.send({ type: "approve", approval_id: approvalId, approved })) {
      this.store.dispatch({ type: "approval_answered", sessionId, approvalId, approved });
    } else {
      this.notice("Not connected: the approval was not sent. Try again in a moment.");
    }
  }

  /** A thumb: 1, -1, or 0 to take it back. All tabs follow once it is saved. */
  vote({ queryId }: Turn, sentiment: number): void {
    if (!this.link.send({ type: "feedback", query_id: queryId, sentiment })) {
      this.notice("Not connected: the vote was not sent. Try again in a moment.");
    }
  }

  /** Has the model sum up a chat's older turns; where that stands comes as frames. */
  compact(sessionId: string): void {
    if (!this.link.send({ type: "compact", session_id: sessionId })) {
      this.notice("Not connected: nothing is summed up. Try again in a moment.");
    }
  }

  async rename(sessionId: string, title: string): Promise<void> {
    await this.rest.renameSession(sessionId, title);
    this.store.dispatch({ type: "session_renamed", sessionId, title });
  }

  async remove(sessionId: string): Promise<void> {
    await this.rest.deleteSession(sessionId);
    this.watches.delete(sessionId);
    this.store.dispatch({ type: "session_deleted", sessionId });
  }

  notice(text: string): void {
    this.store.dispatch({ type: "notice", text });
  }

  private submit(sessionId: string, query: string, place?: Place): string {
    const queryId = newId();
    const createdAt = new Date(this.now()).toISOString();
    this.store.dispatch({ type: "asked", queryId, sessionId, query, createdAt, ...place });
    this.send(queryId, sessionId, query, place?.after);
    return queryId;
  }

  private send(queryId: string, sessionId: string, query: string, after?: string): void {
    const model = validModel(readModel(sessionId), this.store.get().models);
    const frame: Query = {
      ...{ type: "query", query, session_id: sessionId, query_id: queryId },
      ...(model === "" ? {} : { model }),
      ...(after === undefined ? {} : { after }),
    };
    this.outbox.add(queryId, frame, this.now());
    this.link.send(frame);
  }

  // -------------------------------------------------------------------------- what is looked up

  async refreshList(): Promise<void> {
    await this.look(async () =>
      this.store.dispatch({ type: "listed", list: await this.rest.sessions() }),
    );
  }

  async refreshModels(): Promise<void> {
    await this.look(async () =>
      this.store.dispatch({ type: "models", models: await this.rest.models() }),
    );
  }

  async refreshHealth(): Promise<void> {
    await this.look(async () =>
      this.store.dispatch({ type: "health", health: await this.rest.health() }),
    );
  }

  async refreshWeb(): Promise<void> {
    await this.look(async () => this.store.dispatch({ type: "web", web: await this.rest.web() }));
  }

  /** For good, for all chats; rejects with words. */
  async allowWeb(enabled: boolean): Promise<void> {
    this.store.dispatch({ type: "web", web: await this.rest.allowWeb(enabled) });
  }

  // What the sidebar and the chips show is asked for again anyway; the link says that nobody answers.
  private async look(lookUp: () => Promise<void>): Promise<void> {
    try {
      await lookUp();
    } catch (error) {
      if (!(error instanceof RestError)) {
        throw error;
      }
    }
  }

  private refreshAll(): void {
    void this.refreshList();
    void this.refreshModels();
    void this.refreshHealth();
    void this.refreshWeb();
  }

  // -------------------------------------------------------------------------- the link

  private opened(): void {
    const sessions = new Set(openSessionIds(this.store.get()));
    if (this.current !== null) {
      sessions.add(this.current);
    }
    this.forgetOthers(sessions);
    for (const sessionId of sessions) {
      void this.sync(sessionId);
    }
    this.sendWaiting(true);
    this.refreshAll();
  }

  // A session that is neither shown nor running is fetched again when it is next opened.
  private forgetOthers(kept: ReadonlySet<string>): void {
    for (const sessionId of this.watches.keys()) {
      if (!kept.has(sessionId)) {
        this.watches.delete(sessionId);
      }
    }
  }

  private sendWaiting(reconnected: boolean): void {
    for (const frame of this.outbox.due(this.now(), reconnected)) {
      this.link.send(frame);
    }
    if (reconnected) {
      this.repeatStops();
    }
  }

  private repeatStops(): void {
    for (const session of Object.values(this.store.get().sessions)) {
      for (const turn of session.turns) {
        if (turn.stopping && turn.ending === null) {
          this.link.send({ type: "stop", query_id: turn.queryId });
        }
      }
    }
  }

  private tidy(): void {
    if (!this.link.isOpen) {
      return;
    }
    this.sendWaiting(false);
    for (const sessionId of this.watches.keys()) {
      this.mend(sessionId);
    }
    const { models, health } = this.store.get();
    if (models?.backend.state !== "ready") {
      void this.refreshModels();
    }
    if (health?.status !== "ok") {
      void this.refreshHealth();
    }
  }

  // -------------------------------------------------------------------------- sessions in step

  // The order matters: first follow, then fetch, so that nothing falls between the two.
  private async sync(sessionId: string): Promise<void> {
    this.flush();
    const watch = this.watchOf(sessionId);
    const fetch = watch.begin();
    this.resume(sessionId);
    try {
      const detail = await this.rest.session(sessionId);
      if (watch.isCurrent(fetch)) {
        this.store.dispatch({ type: "session_loaded", sessionId, detail });
      }
    } catch (error) {
      if (watch.isCurrent(fetch)) {
        this.loadFailed(sessionId, error);
      }
    }
    if (watch.isCurrent(fetch)) {
      this.apply(watch.end());
    }
  }

  private loadFailed(sessionId: string, error: unknown): void {
    if (error instanceof RestError && error.status === 404) {
      this.watches.delete(sessionId);
      this.store.dispatch({ type: "session_missing", sessionId });
    } else {
      this.store.dispatch({ type: "session_load_failed", sessionId, message: messageOf(error) });
    }
  }

  private watchOf(sessionId: string): Watch {
    const known = this.watches.get(sessionId);
    if (known !== undefined) {
      return known;
    }
    const watch = new Watch();
    this.watches.set(sessionId, watch);
    return watch;
  }

  private resume(sessionId: string): void {
    const after = lastPosition(this.store.get().sessions[sessionId]);
    const frame: Resume = { type: "resume", session_id: sessionId };
    this.link.send(after === null ? frame : { ...frame, after });
  }

  // -------------------------------------------------------------------------- frames

  private received(frame: ServerEvent): void {
    this.outbox.heard(frame);
    const sessionId = sessionOf(frame);
    if (sessionId !== null && this.watches.get(sessionId)?.hold(frame) === true) {
      return;
    }
    this.arrived.push(frame);
    if (this.arrived.length === 1) {
      this.soon(() => this.flush());
    }
  }

  private flush(): void {
    const frames = this.arrived;
    this.arrived = [];
    this.apply(frames);
  }

  private apply(frames: readonly ServerEvent[]): void {
    if (frames.length === 0) {
      return;
    }
    const elsewhere = new Set([...this.askedElsewhere(frames), ...this.turnsChanged(frames)]);
    this.store.dispatch({ type: "frames", frames, at: this.now() });
    elsewhere.forEach((sessionId) => void this.sync(sessionId));
    for (const sessionId of new Set(frames.map(sessionOf))) {
      this.mend(sessionId);
    }
    this.lookAfter(frames);
  }

  // Another tab may have asked on another branch, which is the one that is shown from here on.
  private askedElsewhere(frames: readonly ServerEvent[]): ReadonlySet<string> {
    const { sessions } = this.store.get();
    const strange = frames.filter(
      (frame) =>
        frame.type === "accepted" &&
        this.watches.has(frame.session_id) &&
        !sessions[frame.session_id]?.turns.some(({ queryId }) => queryId === frame.query_id),
    );
    return new Set(strange.flatMap((frame) => sessionOf(frame) ?? []));
  }

  // Another tab deleted a turn or shows another branch, or a summary came: what is shown follows.
  private turnsChanged(frames: readonly ServerEvent[]): readonly string[] {
    return frames.flatMap((frame) =>
      (frame.type === "session_changed" || frame.type === "compaction") &&
      isOtherHistory(frame) &&
      this.watches.has(frame.session_id)
        ? [frame.session_id]
        : [],
    );
  }

  private mend(sessionId: string | null): void {
    if (sessionId === null || !hasGap(this.store.get().sessions[sessionId])) {
      return;
    }
    if (this.watchOf(sessionId).mayResume(this.now(), GAP_RESUME_MS)) {
      this.resume(sessionId);
    }
  }

  private lookAfter(frames: readonly ServerEvent[]): void {
    if (frames.some((frame) => LIST_CHANGES.has(frame.type))) {
      clearTimeout(this.listTimer);
      this.listTimer = setTimeout(() => void this.refreshList(), LIST_AFTER_MS);
    }
    if (frames.some((frame) => frame.type === "error")) {
      void this.refreshModels();
    }
  }
}

function isOtherHistory(frame: SessionChanged | Compaction): boolean {
  return frame.type === "compaction" ? frame.state === "done" : frame.change === "turns";
}

function sessionOf(frame: ServerEvent): string | null {
  return "session_id" in frame ? frame.session_id : null;
}

// A hidden tab paints no frames, but goes on receiving.
function nextFrame(run: () => void): void {
  if (document.hidden) {
    setTimeout(run, 100);
  } else {
    requestAnimationFrame(run);
  }
}
