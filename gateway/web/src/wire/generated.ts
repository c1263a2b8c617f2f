// Generated from gateway/wire.py by scripts/generate-wire. Do not edit: change the structs, then run it again.

import type { Check } from "./check";
import * as is from "./check";

/** Ask a question. `type` may be left out of this frame. */
export interface Query {
  type: "query";
  /** The question, as typed. */
  query: string;
  /** The conversation; the one in the URL where left out, else a new one. */
  session_id?: string | null;
  /** Who asks, where there are no accounts; `default` where left out. */
  user_id?: string | null;
  /**
   * The turn that this one follows, to ask again or in other words; empty: none. Else the last one
   * shown.
   */
  after?: string | null;
  /** Refused with words until the library can read them. */
  attachments?: Record<string, unknown>[];
  /** The client's own id of this turn: the same id twice is one turn. */
  query_id?: string | null;
  /** A persona's name, for this session from here on; `default` for none. */
  persona?: string | null;
  /** A role (`default`, `quality`) or a model's name, for this turn. */
  model?: string | null;
  /** For a new conversation: nothing of it is remembered, and nothing is recalled in it. */
  incognito?: boolean;
}

/** Stop a turn: the model's connection closes, the text so far is kept. */
export interface Stop {
  type: "stop";
  /** The turn to stop. */
  query_id: string;
}

/** The last chunk that a client has seen. */
export interface Position {
  /** The turn. */
  query_id: string;
  /** The turn's attempt that the number belongs to. */
  attempt?: number;
  /** The last chunk number seen; -1 for none. */
  n?: number;
}

/**
 * Watch a session (after a reconnect, in a second tab): answered by a `snapshot` of each open turn.
 */
export interface Resume {
  type: "resume";
  /** The conversation to watch. */
  session_id: string;
  /** The last chunk this client has. */
  after?: Position | null;
}

/** Answer an `approval_request`; the first answer wins. */
export interface Approve {
  type: "approve";
  /** The request's id. */
  approval_id: string;
  /** Whether the call may run with exactly the arguments shown. */
  approved: boolean;
}

/** A thumb for an answer. */
export interface Feedback {
  type: "feedback";
  /** The answered turn. */
  query_id: string;
  /** 1, -1, or 0 to take the vote back. */
  sentiment: number;
}

/** Summarise the older part of a session's prompt. */
export interface Compact {
  type: "compact";
  /** The conversation. */
  session_id: string;
}

/** Answered by `pong`. */
export interface Ping {
  type: "ping";
}

/** The turn is committed: it will be answered, whatever is restarted from here on. */
export interface Accepted {
  type: "accepted";
  /** The question, so that other tabs can show it. */
  query: string;
  /** When it was accepted. */
  created_at: string;
  /** The turn that this frame is about. */
  query_id: string;
  /** The conversation of that turn. */
  session_id: string;
}

/** Another turn of this session, or the limit of turns at once, comes first. */
export interface Queued {
  type: "queued";
  /** How many turns come before this one. */
  position: number;
  /** The turn that this frame is about. */
  query_id: string;
  /** The conversation of that turn. */
  session_id: string;
}

/** An agent's state machine moved. */
export interface AgentState {
  type: "agent_state";
  /** The participant, such as `generator`. */
  agent: string;
  /** The new state, such as `GENERATING`. */
  state: string;
  /** Words for the user, such as why it waits; may be empty. */
  note: string;
  /** The turn that this frame is about. */
  query_id: string;
  /** The conversation of that turn. */
  session_id: string;
}

/** One tool call of a turn, finished or not. */
export interface ToolCallView {
  /** The call's id. */
  call_id: string;
  /** The tool's name, as the model calls it. */
  tool: string;
  /** The arguments after validation. */
  args: Record<string, unknown>;
  /** `running`, or one of the outcomes of `tool_result`. */
  outcome: string;
  /** What the model was told. */
  result: string;
  /** Each {title, url}, or {title, memory_id} of a memory. */
  sources: Record<string, unknown>[];
  /** Whether the result is content from outside: data, never instructions. */
  untrusted: boolean;
  /** How long the call took. */
  seconds: number;
}

/** One request for approval of an open turn. */
export interface ApprovalView {
  /** What `approve` names. */
  approval_id: string;
  /** The call that waits for it. */
  call_id: string;
  /** The tool's name. */
  tool: string;
  /** The exact arguments. */
  args: Record<string, unknown>;
  /** Why it asks, in words. */
  reason: string;
  /** When it counts as denied. */
  expires: string;
  /** open, or as in `approval_result`. */
  state: string;
}

/** The whole state of an open turn; chunks that follow continue it at `n` + 1 of `attempt`. */
export interface Snapshot {
  type: "snapshot";
  /** The question. */
  query: string;
  /** When it was accepted. */
  created_at: string;
  /** The generator's state for this turn, or `QUEUED`. */
  state: string;
  /** The running attempt, from 1; 0 before the first. */
  attempt: number;
  /** The last chunk number that the text below holds; -1 for none. */
  n: number;
  /** The thinking so far. */
  thinking: string;
  /** The answer so far. */
  answer: string;
  /** The tool calls so far, in request order. */
  tool_calls: ToolCallView[];
  /** The turn that it follows; empty for the first. */
  after: string;
  /** What the user was asked in this turn, oldest first. */
  approvals: ApprovalView[];
  /** The turn that this frame is about. */
  query_id: string;
  /** The conversation of that turn. */
  session_id: string;
}

/** A piece of the model's thinking. */
export interface ThinkingChunk {
  type: "thinking_chunk";
  /** The text to append. */
  chunk: string;
  /** The attempt, from 1. */
  attempt: number;
  /** The chunk's number in that attempt. */
  n: number;
  /** The answer so far ends with this chunk, and it was thinking: take it off there. */
  retract: boolean;
  /** The turn that this frame is about. */
  query_id: string;
  /** The conversation of that turn. */
  session_id: string;
}

/** A piece of the answer. */
export interface AnswerChunk {
  type: "answer_chunk";
  /** The text to append. */
  chunk: string;
  /** The attempt, from 1. */
  attempt: number;
  /** The chunk's number in that attempt. */
  n: number;
  /** The turn that this frame is about. */
  query_id: string;
  /** The conversation of that turn. */
  session_id: string;
}

/** A tool was called. */
export interface ToolStart {
  type: "tool_start";
  /** The call's id. */
  call_id: string;
  /** The tool's name, as the model calls it. */
  tool: string;
  /** The arguments after validation. */
  args: Record<string, unknown>;
  /** The turn that this frame is about. */
  query_id: string;
  /** The conversation of that turn. */
  session_id: string;
}

/** A tool call ended. */
export interface ToolResultFrame {
  type: "tool_result";
  /** The call's id. */
  call_id: string;
  /** The tool's name. */
  tool: string;
  /**
   * ok, unknown, disabled, unavailable, invalid_arguments, denied, timeout, crashed, cancelled or
   * failed.
   */
  outcome: string;
  /** What the model is told. */
  result: string;
  /** Each {title, url}, or {title, memory_id} of a memory. */
  sources: Record<string, unknown>[];
  /** Whether the result is content from outside: data, never instructions. */
  untrusted: boolean;
  /** How long the call took. */
  seconds: number;
  /** The turn that this frame is about. */
  query_id: string;
  /** The conversation of that turn. */
  session_id: string;
}

/** A tool asks before it acts. It may come more than once. */
export interface ApprovalRequest {
  type: "approval_request";
  /** What `approve` names. */
  approval_id: string;
  /** The call that waits for it. */
  call_id: string;
  /** The tool's name. */
  tool: string;
  /** The exact arguments. */
  args: Record<string, unknown>;
  /** Why it asks, in words. */
  reason: string;
  /** When it counts as denied. */
  expires: string;
  /** The turn that this frame is about. */
  query_id: string;
  /** The conversation of that turn. */
  session_id: string;
}

/** What stands: the answer to `approve`, and word of an answer that was given elsewhere. */
export interface ApprovalResult {
  type: "approval_result";
  /** The request's id. */
  approval_id: string;
  /**
   * approved, taken (approved, and the call was sent), denied, expired, or void (it needs no
   * answer).
   */
  state: string;
  /** The turn that this frame is about. */
  query_id: string;
  /** The conversation of that turn. */
  session_id: string;
}

/**
 * A memory that the prompt held. Its text is looked up (`GET /api/memory/items`), while it is
 * remembered.
 */
export interface MemoryUse {
  /** Its id. */
  memory_id: string;
  /** fact, engram or insight. */
  kind: string;
  /** How well it fitted; 0 for a pinned fact, which is always there. */
  score: number;
}

/** The turn is over and its answer is saved. */
export interface Response {
  type: "response";
  /** The whole answer. */
  answer: string;
  /** The whole thinking. */
  thinking: string;
  /** The tool calls, in request order. */
  tool_calls: ToolCallView[];
  /** The model that answered. */
  model: string;
  /** stop, length, incomplete, cancelled or error. */
  finish_reason: string;
  /** In words, where finish_reason is not stop; else empty. */
  reason: string;
  /** Whether the small embedded demo model answered. */
  demo: boolean;
  /** Prompt tokens of the last model round, as the server counted them. */
  prompt_tokens: number | null;
  /** Tokens generated in all rounds. */
  answer_tokens: number | null;
  /** The context size that the prompt was fitted to, in tokens. */
  num_ctx: number | null;
  /** How many older messages did not fit into the prompt. */
  left_out: number;
  /** From the claim of the turn to its first token, in seconds. */
  first_token_s: number | null;
  /** From the claim of the turn to its end, in seconds. */
  seconds: number | null;
  /** Pinned facts that the prompt held. */
  facts: MemoryUse[];
  /** Engrams and insights that the prompt held, the best first. */
  recalled: MemoryUse[];
  /** In words: why nothing was recalled, where that is no plain lack. */
  not_recalled: string;
  /**
   * web (sources from outside), grounded (memory, documents or tools) or knowledge (the model's
   * own).
   */
  groundedness: string;
  /** The turn that this frame is about. */
  query_id: string;
  /** The conversation of that turn. */
  session_id: string;
}

/** The critic's grade of an answer. */
export interface Critique {
  type: "critique";
  /** 1 to 5, or null for not graded. */
  score: number | null;
  /** The rubric. */
  rubric_name: string;
  /** The critic's words. */
  feedback: string;
  /** Why it was not graded; else empty. */
  reason: string;
  /** The model that graded; empty for none. */
  model: string;
  /** The turn that this frame is about. */
  query_id: string;
  /** The conversation of that turn. */
  session_id: string;
}

/**
 * The user's thumb for an answer, and it is saved: the answer to `feedback`, and word of one given
 * elsewhere.
 */
export interface Vote {
  type: "vote";
  /** 1, -1, or 0 for none. */
  sentiment: number;
  /** The turn that this frame is about. */
  query_id: string;
  /** The conversation of that turn. */
  session_id: string;
}

/** The user's pinned facts changed. */
export interface ContextUpdated {
  type: "context_updated";
  /** Whose facts. */
  user_id: string;
}

/** Progress or result of a compaction. */
export interface Compaction {
  type: "compaction";
  /** The conversation. */
  session_id: string;
  /** started, done, refused or failed. */
  state: string;
  /** In words. */
  message: string;
  /** When done: the last turn that the summary stands for. */
  upto: string;
}

/**
 * One of the user's sessions was made, renamed or deleted, or something in it changed: the list is
 * stale.
 */
export interface SessionChanged {
  type: "session_changed";
  /** The conversation. */
  session_id: string;
  /**
   * created, renamed, deleted, turns (a turn was deleted, or another branch is shown), or updated.
   */
  change: string;
}

/** The answer to `ping`. */
export interface Pong {
  type: "pong";
}

/**
 * Something could not be done. The socket stays open. With a query_id it ends that turn (it failed,
 * or was not accepted); without one it is a notice.
 */
export interface Error {
  type: "error";
  /** A stable code, such as `bad_frame` or `model_unreachable`. */
  code: string;
  /** What happened, and what to do about it. */
  message: string;
  /** Whether asking again may help. */
  retryable: boolean;
  /** The turn, where one is meant. */
  query_id: string | null;
  /** The conversation, where one is meant. */
  session_id: string | null;
}

export const readAccepted: Check<Accepted> = is.fields({
  type: is.only("accepted"),
  query: is.text,
  created_at: is.text,
  query_id: is.text,
  session_id: is.text,
});

export const readQueued: Check<Queued> = is.fields({
  type: is.only("queued"),
  position: is.number,
  query_id: is.text,
  session_id: is.text,
});

export const readAgentState: Check<AgentState> = is.fields({
  type: is.only("agent_state"),
  agent: is.text,
  state: is.text,
  note: is.withDefault(is.text, ""),
  query_id: is.text,
  session_id: is.text,
});

export const readToolCallView: Check<ToolCallView> = is.fields({
  call_id: is.text,
  tool: is.text,
  args: is.withDefault(is.record(is.anything), {}),
  outcome: is.withDefault(is.text, "running"),
  result: is.withDefault(is.text, ""),
  sources: is.withDefault(is.list(is.record(is.anything)), []),
  untrusted: is.withDefault(is.flag, false),
  seconds: is.withDefault(is.number, 0.0),
});

export const readApprovalView: Check<ApprovalView> = is.fields({
  approval_id: is.text,
  call_id: is.text,
  tool: is.text,
  args: is.record(is.anything),
  reason: is.text,
  expires: is.text,
  state: is.text,
});

export const readSnapshot: Check<Snapshot> = is.fields({
  type: is.only("snapshot"),
  query: is.text,
  created_at: is.text,
  state: is.text,
  attempt: is.number,
  n: is.number,
  thinking: is.text,
  answer: is.text,
  tool_calls: is.withDefault(is.list(readToolCallView), []),
  after: is.withDefault(is.text, ""),
  approvals: is.withDefault(is.list(readApprovalView), []),
  query_id: is.text,
  session_id: is.text,
});

export const readThinkingChunk: Check<ThinkingChunk> = is.fields({
  type: is.only("thinking_chunk"),
  chunk: is.text,
  attempt: is.number,
  n: is.number,
  retract: is.withDefault(is.flag, false),
  query_id: is.text,
  session_id: is.text,
});

export const readAnswerChunk: Check<AnswerChunk> = is.fields({
  type: is.only("answer_chunk"),
  chunk: is.text,
  attempt: is.number,
  n: is.number,
  query_id: is.text,
  session_id: is.text,
});

export const readToolStart: Check<ToolStart> = is.fields({
  type: is.only("tool_start"),
  call_id: is.text,
  tool: is.text,
  args: is.record(is.anything),
  query_id: is.text,
  session_id: is.text,
});

export const readToolResultFrame: Check<ToolResultFrame> = is.fields({
  type: is.only("tool_result"),
  call_id: is.text,
  tool: is.text,
  outcome: is.text,
  result: is.text,
  sources: is.list(is.record(is.anything)),
  untrusted: is.flag,
  seconds: is.number,
  query_id: is.text,
  session_id: is.text,
});

export const readApprovalRequest: Check<ApprovalRequest> = is.fields({
  type: is.only("approval_request"),
  approval_id: is.text,
  call_id: is.text,
  tool: is.text,
  args: is.record(is.anything),
  reason: is.text,
  expires: is.text,
  query_id: is.text,
  session_id: is.text,
});

export const readApprovalResult: Check<ApprovalResult> = is.fields({
  type: is.only("approval_result"),
  approval_id: is.text,
  state: is.text,
  query_id: is.text,
  session_id: is.text,
});

export const readMemoryUse: Check<MemoryUse> = is.fields({
  memory_id: is.text,
  kind: is.text,
  score: is.withDefault(is.number, 0.0),
});

export const readResponse: Check<Response> = is.fields({
  type: is.only("response"),
  answer: is.text,
  thinking: is.text,
  tool_calls: is.list(readToolCallView),
  model: is.text,
  finish_reason: is.text,
  reason: is.withDefault(is.text, ""),
  demo: is.withDefault(is.flag, false),
  prompt_tokens: is.withDefault(is.oneOf(is.number, is.nothing), null),
  answer_tokens: is.withDefault(is.oneOf(is.number, is.nothing), null),
  num_ctx: is.withDefault(is.oneOf(is.number, is.nothing), null),
  left_out: is.withDefault(is.number, 0),
  first_token_s: is.withDefault(is.oneOf(is.number, is.nothing), null),
  seconds: is.withDefault(is.oneOf(is.number, is.nothing), null),
  facts: is.withDefault(is.list(readMemoryUse), []),
  recalled: is.withDefault(is.list(readMemoryUse), []),
  not_recalled: is.withDefault(is.text, ""),
  groundedness: is.withDefault(is.text, "knowledge"),
  query_id: is.text,
  session_id: is.text,
});

export const readCritique: Check<Critique> = is.fields({
  type: is.only("critique"),
  score: is.oneOf(is.number, is.nothing),
  rubric_name: is.text,
  feedback: is.text,
  reason: is.withDefault(is.text, ""),
  model: is.withDefault(is.text, ""),
  query_id: is.text,
  session_id: is.text,
});

export const readVote: Check<Vote> = is.fields({
  type: is.only("vote"),
  sentiment: is.number,
  query_id: is.text,
  session_id: is.text,
});

export const readContextUpdated: Check<ContextUpdated> = is.fields({
  type: is.only("context_updated"),
  user_id: is.text,
});

export const readCompaction: Check<Compaction> = is.fields({
  type: is.only("compaction"),
  session_id: is.text,
  state: is.text,
  message: is.withDefault(is.text, ""),
  upto: is.withDefault(is.text, ""),
});

export const readSessionChanged: Check<SessionChanged> = is.fields({
  type: is.only("session_changed"),
  session_id: is.text,
  change: is.text,
});

export const readPong: Check<Pong> = is.fields({
  type: is.only("pong"),
});

export const readError: Check<Error> = is.fields({
  type: is.only("error"),
  code: is.text,
  message: is.text,
  retryable: is.flag,
  query_id: is.withDefault(is.oneOf(is.text, is.nothing), null),
  session_id: is.withDefault(is.oneOf(is.text, is.nothing), null),
});

/** What the client may send. */
export type ClientFrame =
  | Query
  | Stop
  | Resume
  | Approve
  | Feedback
  | Compact
  | Ping;

/** What the server may send. */
export type ServerEvent =
  | Accepted
  | Queued
  | AgentState
  | Snapshot
  | ThinkingChunk
  | AnswerChunk
  | ToolStart
  | ToolResultFrame
  | ApprovalRequest
  | ApprovalResult
  | Response
  | Critique
  | Vote
  | ContextUpdated
  | Compaction
  | SessionChanged
  | Pong
  | Error;

/** By the `type` of every frame that this client knows; others are passed over. */
export const serverEvents: Readonly<Record<ServerEvent["type"], Check<ServerEvent>>> = {
  accepted: readAccepted,
  queued: readQueued,
  agent_state: readAgentState,
  snapshot: readSnapshot,
  thinking_chunk: readThinkingChunk,
  answer_chunk: readAnswerChunk,
  tool_start: readToolStart,
  tool_result: readToolResultFrame,
  approval_request: readApprovalRequest,
  approval_result: readApprovalResult,
  response: readResponse,
  critique: readCritique,
  vote: readVote,
  context_updated: readContextUpdated,
  compaction: readCompaction,
  session_changed: readSessionChanged,
  pong: readPong,
  error: readError,
};
