// What does one frame change in its turn?

import type {
  AnswerChunk,
  Critique,
  Response,
  ServerEvent,
  Snapshot,
  ThinkingChunk,
  ToolCallView,
  ToolResultFrame,
  ToolStart,
} from "../wire/generated";
import type { GradeView } from "../wire/rest";
import { mergeApprovals, requestApproval, settleApproval } from "./approvals";
import type { Ending, Phase, Turn } from "./model";

/** The frames that are always about a turn. */
export type TurnFrame = Extract<ServerEvent, { query_id: string }>;

const AFTER_THE_END = new Set<ServerEvent["type"]>(["critique", "vote"]);

export function applyFrame(turn: Turn, frame: TurnFrame, at: number): Turn {
  if (turn.ending !== null && !AFTER_THE_END.has(frame.type)) {
    return turn;
  }
  switch (frame.type) {
    case "accepted":
      return accept(turn, frame.created_at);
    case "queued":
      return { ...turn, accepted: true, phase: "queued", position: frame.position };
    case "agent_state":
      return applyAgentState(turn, frame.agent, frame.state, frame.note);
    case "snapshot":
      return applySnapshot(turn, frame, at);
    case "thinking_chunk":
    case "answer_chunk":
      return applyChunk(turn, frame, at);
    case "tool_start":
      return startTool(revived(endThinking(turn, at)), frame);
    case "tool_result":
      return endTool(revived(turn), frame);
    case "approval_request":
      return requestApproval(revived(endThinking(turn, at)), frame);
    case "approval_result":
      return settleApproval(turn, frame);
    case "response":
      return applyResponse(endThinking(turn, at), frame);
    case "critique":
      return { ...turn, grade: gradeOf(frame) };
    case "vote":
      return { ...turn, sentiment: frame.sentiment };
    default:
      return turn;
  }
}

// A refusal may have been too early: the question had arrived after all.
function accept(turn: Turn, createdAt: string): Turn {
  if (turn.accepted) {
    return turn;
  }
  return { ...turn, accepted: true, phase: "accepted", error: null, createdAt };
}

/** The turn is being worked on, whatever an earlier error said. */
function revived(turn: Turn): Turn {
  return { ...turn, accepted: true, phase: "running", error: null };
}

// An observer's state (critic, memory) says nothing about the answer's progress.
function applyAgentState(turn: Turn, agent: string, state: string, note: string): Turn {
  if (agent !== "generator") {
    return note === "" ? turn : { ...turn, note };
  }
  return { ...turn, agentState: state, note };
}

// ---------------------------------------------------------------------------- streamed text

function applyChunk(turn: Turn, frame: ThinkingChunk | AnswerChunk, at: number): Turn {
  if (frame.attempt < turn.attempt) {
    return turn;
  }
  const current = frame.attempt > turn.attempt ? startAttempt(turn, frame.attempt) : turn;
  if (frame.n <= current.n) {
    return turn;
  }
  if (frame.n > current.n + 1) {
    return current.gap ? current : { ...current, gap: true };
  }
  const next: Turn = { ...revived(current), n: frame.n, gap: false };
  return frame.type === "thinking_chunk"
    ? appendThinking(frame.retract ? retract(next, frame.chunk) : next, frame.chunk, at)
    : { ...endThinking(next, at), answer: next.answer + frame.chunk };
}

// A call that was running died with its attempt; a finished one is not run again.
function startAttempt(turn: Turn, attempt: number): Turn {
  return {
    ...turn,
    attempt,
    n: -1,
    gap: false,
    thinking: "",
    answer: "",
    thinkingSince: null,
    thinkingMs: null,
    toolCalls: turn.toolCalls.filter((call) => call.outcome !== "running"),
  };
}

function appendThinking(turn: Turn, chunk: string, at: number): Turn {
  return {
    ...turn,
    thinking: turn.thinking + chunk,
    thinkingSince: turn.thinkingSince ?? at,
  };
}

// The model closed a thought that it never opened: what looked like an answer was none.
function retract(turn: Turn, text: string): Turn {
  const kept = turn.answer.endsWith(text) ? turn.answer.slice(0, -text.length) : turn.answer;
  return { ...turn, answer: kept };
}

function endThinking(turn: Turn, at: number): Turn {
  if (turn.thinkingSince === null) {
    return turn;
  }
  const thinkingMs = (turn.thinkingMs ?? 0) + Math.max(0, at - turn.thinkingSince);
  return { ...turn, thinkingSince: null, thinkingMs };
}

// A snapshot can be older than what was streamed meanwhile; then only its calls may add something.
function applySnapshot(turn: Turn, frame: Snapshot, at: number): Turn {
  const queued = frame.state === "QUEUED";
  const known: Turn = {
    ...turn,
    query: frame.query,
    createdAt: frame.created_at,
    accepted: true,
    phase: queued ? "queued" : "running",
    agentState: queued ? turn.agentState : frame.state,
    approvals: mergeApprovals(frame.approvals, turn.approvals),
    error: null,
  };
  const stale =
    frame.attempt < turn.attempt || (frame.attempt === turn.attempt && frame.n < turn.n);
  if (stale) {
    return { ...known, toolCalls: mergeCalls(frame.tool_calls, turn.toolCalls) };
  }
  const base = frame.attempt > turn.attempt ? startAttempt(known, frame.attempt) : known;
  const answered = frame.answer !== "" ? endThinking(base, at) : base;
  return {
    ...answered,
    n: frame.n,
    gap: false,
    thinking: frame.thinking,
    answer: frame.answer,
    toolCalls: mergeCalls(frame.tool_calls, base.toolCalls),
  };
}

// ---------------------------------------------------------------------------- tools

/** `first` gives the order; a call that ended in either stays ended. */
function mergeCalls(
  first: readonly ToolCallView[],
  second: readonly ToolCallView[],
): readonly ToolCallView[] {
  const others = new Map(second.map((call) => [call.call_id, call]));
  const merged = first.map((call) => {
    const other = others.get(call.call_id);
    others.delete(call.call_id);
    return other !== undefined && call.outcome === "running" ? other : call;
  });
  return [...merged, ...others.values()];
}

function upsertCall(
  turn: Turn,
  callId: string,
  change: (call: ToolCallView | undefined) => ToolCallView,
): Turn {
  const index = turn.toolCalls.findIndex((call) => call.call_id === callId);
  const changed = change(turn.toolCalls[index]);
  return {
    ...turn,
    toolCalls: index < 0 ? [...turn.toolCalls, changed] : turn.toolCalls.with(index, changed),
  };
}

// A result may overtake its start; the start then only adds the arguments.
function startTool(turn: Turn, frame: ToolStart): Turn {
  return upsertCall(turn, frame.call_id, (call) => ({
    call_id: frame.call_id,
    outcome: "running",
    result: "",
    sources: [],
    seconds: 0,
    untrusted: false,
    ...call,
    tool: frame.tool,
    args: frame.args,
  }));
}

function endTool(turn: Turn, frame: ToolResultFrame): Turn {
  return upsertCall(turn, frame.call_id, (call) => ({
    call_id: frame.call_id,
    tool: frame.tool,
    args: call?.args ?? {},
    outcome: frame.outcome,
    result: frame.result,
    sources: frame.sources,
    seconds: frame.seconds,
    untrusted: frame.untrusted,
  }));
}

// ---------------------------------------------------------------------------- the end

function applyResponse(turn: Turn, frame: Response): Turn {
  return {
    ...turn,
    accepted: true,
    phase: phaseOf(frame.finish_reason),
    answer: frame.answer,
    thinking: frame.thinking,
    toolCalls: frame.tool_calls,
    gap: false,
    note: "",
    stopping: false,
    error: null,
    ending: endingOf(frame),
  };
}

export function phaseOf(finishReason: string): Phase {
  switch (finishReason) {
    case "cancelled":
      return "cancelled";
    case "error":
      return "failed";
    default:
      return "answered";
  }
}

function gradeOf({ score, rubric_name, feedback, reason, model }: Critique): GradeView {
  return { score, rubric_name, feedback, reason, model };
}

function endingOf(frame: Response): Ending {
  return {
    finishReason: frame.finish_reason,
    reason: frame.reason,
    model: frame.model,
    demo: frame.demo,
    promptTokens: frame.prompt_tokens,
    answerTokens: frame.answer_tokens,
    numCtx: frame.num_ctx,
    leftOut: frame.left_out,
    firstTokenS: frame.first_token_s,
    seconds: frame.seconds,
    memories: [...frame.facts, ...frame.recalled],
    notRecalled: frame.not_recalled,
    groundedness: frame.groundedness,
  };
}
