// Frames and turns for tests, with everything that a test does not care about.

import type {
  Accepted,
  AnswerChunk,
  Response,
  ServerEvent,
  Snapshot,
  ThinkingChunk,
} from "../wire/generated";
import type { MemoryView, SessionDetail, TurnView } from "../wire/rest";
import { type AppState, initialState, newTurn, type Turn } from "./model";
import { findTurn, reduce } from "./reducer";

export const about = { query_id: "q1", session_id: "s1" };

export const accepted: Accepted = {
  type: "accepted",
  ...about,
  query: "Why?",
  created_at: "2025-01-01T00:00:00Z",
};

export function answerChunk(
  n: number,
  chunk: string,
  rest: Partial<AnswerChunk> = {},
): AnswerChunk {
  return { type: "answer_chunk", ...about, chunk, attempt: 1, n, ...rest };
}

export function thinkingChunk(
  n: number,
  chunk: string,
  rest: Partial<ThinkingChunk> = {},
): ThinkingChunk {
  return { type: "thinking_chunk", ...about, chunk, attempt: 1, n, retract: false, ...rest };
}

export function snapshot(rest: Partial<Snapshot> = {}): Snapshot {
  return {
    type: "snapshot",
    ...about,
    query: "Why?",
    created_at: "2025-01-01T00:00:00Z",
    state: "GENERATING",
    attempt: 1,
    n: -1,
    thinking: "",
    answer: "",
    tool_calls: [],
    approvals: [],
    after: "",
    ...rest,
  };
}

export function response(rest: Partial<Response> = {}): Response {
  return {
    type: "response",
    ...about,
    answer: "Because.",
    thinking: "",
    tool_calls: [],
    model: "m",
    finish_reason: "stop",
    reason: "",
    demo: false,
    prompt_tokens: 10,
    answer_tokens: 3,
    num_ctx: 4096,
    left_out: 0,
    first_token_s: 0.2,
    seconds: 1.5,
    facts: [],
    recalled: [],
    not_recalled: "",
    groundedness: "knowledge",
    ...rest,
  };
}

export function record(rest: Partial<TurnView> = {}): TurnView {
  return {
    query_id: "q1",
    query: "Why?",
    created_at: "2025-01-01T00:00:00Z",
    status: "answered",
    position: 0,
    finish_reason: "stop",
    reason: "",
    code: "",
    retryable: false,
    answer: "Because.",
    thinking: "",
    tool_calls: [],
    approvals: [],
    model: "m",
    demo: false,
    prompt_tokens: null,
    answer_tokens: null,
    num_ctx: null,
    left_out: 0,
    first_token_s: null,
    seconds: null,
    facts: [],
    recalled: [],
    not_recalled: "",
    groundedness: "knowledge",
    grade: null,
    sentiment: 0,
    after: "",
    versions: ["q1"],
    ...rest,
  };
}

export function detail(turns: TurnView[], rest: Partial<SessionDetail> = {}): SessionDetail {
  return {
    session: {
      session_id: "s1",
      title: "A chat",
      created_at: "2025-01-01T00:00:00Z",
      updated_at: "2025-01-01T00:00:00Z",
      turns: turns.length,
      running: false,
      persona: "",
      incognito: false,
    },
    turns,
    summary: null,
    ...rest,
  };
}

export function turn(rest: Partial<Turn> = {}): Turn {
  return {
    ...newTurn({
      queryId: "q1",
      sessionId: "s1",
      query: "Why?",
      createdAt: "2025-01-01T00:00:00Z",
      phase: "running",
    }),
    ...rest,
  };
}

/** The state after these frames, each a second after the one before. */
export function after(frames: readonly ServerEvent[], start: AppState = initialState): AppState {
  return frames.reduce(
    (state, frame, index) => reduce(state, { type: "frames", frames: [frame], at: 1000 * index }),
    start,
  );
}

export function turnAfter(...frames: ServerEvent[]): Turn {
  const found = findTurn(after([accepted, ...frames]).sessions["s1"], "q1");
  if (found === undefined) {
    throw new Error("there is no such turn");
  }
  return found;
}

export function memory(rest: Partial<MemoryView> = {}): MemoryView {
  return {
    memory_id: "m1",
    kind: "fact",
    text: "Ann plays the cello.",
    created_at: "2025-01-01T00:00:00Z",
    updated_at: "2025-01-01T00:00:00Z",
    session_id: "",
    query_id: "",
    score: 0,
    reason: "",
    query: "",
    intent: "",
    entities: [],
    critic_score: null,
    sentiment: 0,
    sources: [],
    untrusted: false,
    shared: false,
    own: true,
    ...rest,
  };
}
