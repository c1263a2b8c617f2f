// What does the UI know? Everything here is immutable; reducers make the next state.

import type { MemoryUse, ToolCallView } from "../wire/generated";
import type { GradeView, Health, Models, SessionView, SummaryView, Web } from "../wire/rest";

/**
 * Where a turn stands for its user. `sending` is not yet accepted by the gateway; `failed` without an
 * ending may still come back to life, since the ledger can run a turn again.
 */
export type Phase =
  "sending" | "accepted" | "queued" | "running" | "answered" | "failed" | "cancelled";

/** How a turn ended; present exactly when nothing but a grade and a vote can follow. */
export interface Ending {
  readonly finishReason: string;
  readonly reason: string;
  readonly model: string;
  readonly demo: boolean;
  readonly promptTokens: number | null;
  readonly answerTokens: number | null;
  readonly numCtx: number | null;
  readonly leftOut: number;
  readonly firstTokenS: number | null;
  readonly seconds: number | null;
  /** The pinned facts, then what was recalled, the best first. */
  readonly memories: readonly MemoryUse[];
  /** Why nothing was recalled, where that is no plain lack. */
  readonly notRecalled: string;
  readonly groundedness: string;
}

export interface Approval {
  readonly approvalId: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Why it asks, in words. */
  readonly reason: string;
  readonly expires: string;
  readonly answered: boolean | null;
  /** No answer is wanted any more. */
  readonly closed: boolean;
  /** Nobody answered in time. */
  readonly expired: boolean;
  /** What was chosen in this tab and is not confirmed yet. */
  readonly here: boolean | null;
  /** Another tab or program gave the answer that counts. */
  readonly elsewhere: boolean;
}

export interface TurnError {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

export interface Turn {
  readonly queryId: string;
  readonly sessionId: string;
  readonly query: string;
  readonly createdAt: string;
  /** The turns in its place, oldest first: the question asked again or in other words, itself too. */
  readonly versions: readonly string[];
  /** The turn that it was asked to follow; undefined for the newest one. Asking it once more says so again. */
  readonly after?: string | undefined;
  readonly phase: Phase;
  /** The gateway has it for good. Until then asking again means the same turn, later another one. */
  readonly accepted: boolean;
  /** How many turns come before this one, while it is queued. */
  readonly position: number;
  /** The generator's state, such as `GENERATING`; empty until it says one. */
  readonly agentState: string;
  readonly note: string;
  /** The last chunk that the text holds, and whether a later one came without those between. */
  readonly attempt: number;
  readonly n: number;
  readonly gap: boolean;
  readonly thinking: string;
  readonly answer: string;
  /** When the thinking that runs now began (ms), and how long all of it took; null where nobody watched. */
  readonly thinkingSince: number | null;
  readonly thinkingMs: number | null;
  readonly toolCalls: readonly ToolCallView[];
  readonly approvals: readonly Approval[];
  /** The user asked to stop it. */
  readonly stopping: boolean;
  readonly ending: Ending | null;
  readonly error: TurnError | null;
  /** The critic's; null while there is none. */
  readonly grade: GradeView | null;
  /** The user's thumb: 1, -1, or 0 for none. */
  readonly sentiment: number;
}

export type Load = "new" | "loading" | "ready" | "missing" | "failed";

export interface Session {
  readonly id: string;
  readonly turns: readonly Turn[];
  readonly load: Load;
  readonly loadError: string;
  /** Nothing of it is remembered, and nothing is recalled in it. */
  readonly incognito: boolean;
  /** What stands in the prompt for its oldest turns. */
  readonly summary: SummaryView | null;
  /** Its older turns are being summed up. */
  readonly compacting: boolean;
}

export type Link = "idle" | "connecting" | "open" | "waiting";

export interface Notice {
  readonly id: number;
  readonly text: string;
}

export interface AppState {
  readonly link: Link;
  /** Whether the socket was ever open: before that it connects, later it reconnects. */
  readonly linkedBefore: boolean;
  readonly sessions: Readonly<Record<string, Session>>;
  /** The sidebar's list, newest first; null until it is there. */
  readonly list: readonly SessionView[] | null;
  readonly models: Models | null;
  readonly health: Health | null;
  readonly web: Web | null;
  /** How often word came that the pinned facts changed. */
  readonly factChanges: number;
  readonly notices: readonly Notice[];
  readonly lastNotice: number;
}

export const initialState: AppState = {
  link: "idle",
  linkedBefore: false,
  sessions: {},
  list: null,
  models: null,
  health: null,
  web: null,
  factChanges: 0,
  notices: [],
  lastNotice: 0,
};

export function newTurn(
  known: Pick<Turn, "queryId" | "sessionId" | "query" | "createdAt" | "phase">,
): Turn {
  return {
    ...known,
    versions: [known.queryId],
    accepted: known.phase !== "sending",
    position: 0,
    agentState: "",
    note: "",
    attempt: 0,
    n: -1,
    gap: false,
    thinking: "",
    answer: "",
    thinkingSince: null,
    thinkingMs: null,
    toolCalls: [],
    approvals: [],
    stopping: false,
    ending: null,
    error: null,
    grade: null,
    sentiment: 0,
  };
}

export function newSession(id: string, load: Load): Session {
  return {
    id,
    turns: [],
    load,
    loadError: "",
    incognito: false,
    summary: null,
    compacting: false,
  };
}
