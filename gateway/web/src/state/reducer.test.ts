import { describe, expect, test } from "vitest";

import type { ServerEvent, ToolResultFrame, ToolStart } from "../wire/generated";
import { initialState } from "./model";
import { findTurn, reduce } from "./reducer";
import { hasGap, lastPosition } from "./selectors";
import {
  about,
  accepted,
  after,
  answerChunk,
  detail,
  record,
  response,
  snapshot,
  thinkingChunk,
  turnAfter,
} from "./testing";

const start: ToolStart = {
  type: "tool_start",
  ...about,
  call_id: "c1",
  tool: "get_datetime",
  args: { timezone: "UTC" },
};

const result: ToolResultFrame = {
  type: "tool_result",
  ...about,
  call_id: "c1",
  tool: "get_datetime",
  outcome: "ok",
  result: "noon",
  sources: [],
  untrusted: true,
  seconds: 0.1,
};

const refused = {
  type: "error",
  code: "model_unreachable",
  message: "No model answers.",
  retryable: true,
  ...about,
} as const;

describe("streamed text", () => {
  test("is appended in order, thinking and answer apart", () => {
    const turn = turnAfter(thinkingChunk(0, "Hm"), answerChunk(1, "Be"), answerChunk(2, "cause"));
    expect(turn).toMatchObject({ thinking: "Hm", answer: "Because", n: 2, phase: "running" });
  });

  test("a chunk seen before is dropped", () => {
    const turn = turnAfter(answerChunk(0, "a"), answerChunk(1, "b"), answerChunk(1, "b"));
    expect(turn).toMatchObject({ answer: "ab", n: 1, gap: false });
  });

  test("a gap is marked, and nothing is appended behind it", () => {
    const state = after([accepted, answerChunk(0, "a"), answerChunk(2, "c"), answerChunk(3, "d")]);
    expect(findTurn(state.sessions["s1"], "q1")).toMatchObject({ answer: "a", n: 0, gap: true });
    expect(hasGap(state.sessions["s1"])).toBe(true);
    expect(lastPosition(state.sessions["s1"])).toEqual({ query_id: "q1", attempt: 1, n: 0 });
  });

  test("a snapshot closes the gap, and the stream goes on behind it", () => {
    const turn = turnAfter(
      answerChunk(0, "a"),
      answerChunk(2, "c"),
      snapshot({ n: 2, answer: "abc" }),
      answerChunk(2, "c"),
      answerChunk(3, "d"),
    );
    expect(turn).toMatchObject({ answer: "abcd", n: 3, gap: false });
  });

  test("the missing chunk itself closes the gap too", () => {
    const turn = turnAfter(answerChunk(0, "a"), answerChunk(2, "c"), answerChunk(1, "b"));
    expect(turn).toMatchObject({ answer: "ab", gap: false });
  });

  test("a new attempt starts the text anew, without the calls that died", () => {
    const turn = turnAfter(
      thinkingChunk(0, "Hm"),
      result,
      { ...start, call_id: "c2" },
      answerChunk(1, "old"),
      answerChunk(0, "new", { attempt: 2 }),
    );
    expect(turn).toMatchObject({ thinking: "", answer: "new", attempt: 2, n: 0 });
    expect(turn.toolCalls.map((call) => call.call_id)).toEqual(["c1"]);
  });

  test("a new attempt whose beginning was missed has a gap", () => {
    const turn = turnAfter(answerChunk(0, "old"), answerChunk(4, "x", { attempt: 2 }));
    expect(turn).toMatchObject({ answer: "", attempt: 2, n: -1, gap: true });
  });

  test("an old attempt says nothing any more", () => {
    const turn = turnAfter(answerChunk(0, "new", { attempt: 2 }), answerChunk(1, "old"));
    expect(turn).toMatchObject({ answer: "new", attempt: 2, n: 0 });
  });

  test("retract takes the end of the answer off, and thinks it instead", () => {
    const turn = turnAfter(
      answerChunk(0, "Kept. "),
      answerChunk(1, "Not "),
      answerChunk(2, "yet. "),
      thinkingChunk(3, "Not yet. ", { retract: true }),
      answerChunk(4, "Now."),
    );
    expect(turn).toMatchObject({ thinking: "Not yet. ", answer: "Kept. Now.", n: 4 });
  });

  test("retract of what is not there changes no answer", () => {
    const turn = turnAfter(answerChunk(0, "Kept."), thinkingChunk(1, "x", { retract: true }));
    expect(turn).toMatchObject({ thinking: "x", answer: "Kept." });
  });

  test("the time of thinking is counted, over several rounds", () => {
    const turn = turnAfter(
      thinkingChunk(0, "a"), // at 1 s
      thinkingChunk(1, "b"),
      start, // at 3 s
      thinkingChunk(2, "c"), // at 4 s
      answerChunk(3, "d"), // at 5 s
    );
    expect(turn).toMatchObject({ thinkingMs: 3000, thinkingSince: null });
  });
});

describe("snapshots", () => {
  test("one makes a turn that was not known", () => {
    const state = after([snapshot({ n: 4, answer: "so far" })]);
    expect(findTurn(state.sessions["s1"], "q1")).toMatchObject({
      query: "Why?",
      answer: "so far",
      n: 4,
      phase: "running",
    });
  });

  test("a queued turn's says so", () => {
    expect(turnAfter(snapshot({ state: "QUEUED", attempt: 0 })).phase).toBe("queued");
  });

  test("one that is older than the stream does not take text back", () => {
    const turn = turnAfter(
      answerChunk(0, "a"),
      answerChunk(1, "b"),
      result,
      snapshot({
        n: 0,
        answer: "a",
        tool_calls: [{ ...result, args: {}, outcome: "running", result: "" }],
      }),
    );
    expect(turn).toMatchObject({ answer: "ab", n: 1 });
    expect(turn.toolCalls).toHaveLength(1);
    expect(turn.toolCalls[0]?.outcome).toBe("ok");
  });
});

describe("tools", () => {
  test("a call starts and ends", () => {
    expect(turnAfter(start).toolCalls[0]).toMatchObject({ outcome: "running", seconds: 0 });
    expect(turnAfter(start, result).toolCalls).toEqual([
      {
        call_id: "c1",
        tool: "get_datetime",
        args: { timezone: "UTC" },
        outcome: "ok",
        result: "noon",
        sources: [],
        seconds: 0.1,
        untrusted: true,
      },
    ]);
  });

  test("a result before its start stays, and gets its arguments", () => {
    const turn = turnAfter(result, start);
    expect(turn.toolCalls).toHaveLength(1);
    expect(turn.toolCalls[0]).toMatchObject({ outcome: "ok", args: { timezone: "UTC" } });
  });

  test("several calls stand in the order of their start, whichever ends first", () => {
    const turn = turnAfter(start, { ...start, call_id: "c2" }, { ...result, call_id: "c2" });
    expect(turn.toolCalls.map((call) => [call.call_id, call.outcome])).toEqual([
      ["c1", "running"],
      ["c2", "ok"],
    ]);
  });

  test("an approval is asked for once, and answered", () => {
    const request: ServerEvent = {
      type: "approval_request",
      ...about,
      approval_id: "a1",
      call_id: "c1",
      tool: "remember_this",
      args: { text: "x" },
      reason: "It adds something.",
      expires: "2025-01-01T00:01:00Z",
    };
    const asked = after([accepted, request, request]);
    const answered = reduce(asked, {
      type: "approval_answered",
      sessionId: "s1",
      approvalId: "a1",
      approved: true,
    });
    expect(findTurn(asked.sessions["s1"], "q1")?.approvals).toHaveLength(1);
    expect(findTurn(answered.sessions["s1"], "q1")?.approvals[0]?.here).toBe(true);
  });
});

describe("a turn's life", () => {
  test("asked, accepted, queued, running, answered", () => {
    const asked = reduce(initialState, {
      type: "asked",
      queryId: "q1",
      sessionId: "s1",
      query: "Why?",
      createdAt: "2024-12-31T23:59:59Z",
    });
    const frames: ServerEvent[] = [
      accepted,
      { type: "queued", ...about, position: 2 },
      { type: "agent_state", ...about, agent: "generator", state: "GENERATING", note: "" },
      answerChunk(0, "B"),
      response(),
    ];
    const phases = frames.map(
      (_, index) => findTurn(after(frames.slice(0, index + 1), asked).sessions["s1"], "q1")?.phase,
    );
    expect(phases).toEqual(["accepted", "queued", "queued", "running", "answered"]);
    expect(after(frames, asked).sessions["s1"]?.turns).toHaveLength(1);
  });

  test.each([
    ["stop", "answered"],
    ["length", "answered"],
    ["incomplete", "answered"],
    ["cancelled", "cancelled"],
    ["error", "failed"],
  ])("finish reason %s makes it %s", (finish_reason, phase) => {
    expect(turnAfter(response({ finish_reason })).phase).toBe(phase);
  });

  test("after the response only a grade changes it", () => {
    const over = turnAfter(answerChunk(0, "x"), response());
    const later = turnAfter(
      answerChunk(0, "x"),
      response(),
      answerChunk(1, "y"),
      start,
      snapshot({ attempt: 3 }),
      refused,
    );
    expect(later).toEqual(over);
    const critique = {
      type: "critique",
      ...about,
      score: 4,
      rubric_name: "helpful",
      feedback: "Good.",
      reason: "",
      model: "m",
    } as const;
    expect(turnAfter(response(), critique).grade?.score).toBe(4);
    expect(turnAfter(response(), { type: "vote", ...about, sentiment: -1 }).sentiment).toBe(-1);
  });

  test("an error fails it with words; a later attempt brings it back", () => {
    expect(turnAfter(refused)).toMatchObject({
      phase: "failed",
      error: { message: "No model answers.", retryable: true },
    });
    expect(turnAfter(refused, answerChunk(0, "x", { attempt: 2 }))).toMatchObject({
      phase: "running",
      error: null,
    });
  });

  test("an error that names its turn but no session finds it", () => {
    expect(turnAfter({ ...refused, session_id: null }).phase).toBe("failed");
  });

  test("an error about no turn is a notice", () => {
    const state = after([{ ...refused, query_id: null, session_id: null }]);
    expect(state.notices.map((notice) => notice.text)).toEqual(["No model answers."]);
    expect(reduce(state, { type: "notice_dismissed", id: 1 }).notices).toEqual([]);
  });

  test("a refusal that came too early is taken back by the acceptance", () => {
    const asked = reduce(initialState, {
      type: "asked",
      queryId: "q1",
      sessionId: "s1",
      query: "Why?",
      createdAt: "2024-12-31T23:59:59Z",
    });
    const failed = after([refused], asked);
    expect(findTurn(failed.sessions["s1"], "q1")).toMatchObject({
      phase: "failed",
      accepted: false,
    });
    expect(findTurn(after([accepted], failed).sessions["s1"], "q1")).toMatchObject({
      phase: "accepted",
      accepted: true,
      error: null,
    });
  });

  test("an observer's state is not the generator's", () => {
    const turn = turnAfter({
      type: "agent_state",
      ...about,
      agent: "critic",
      state: "GRADING",
      note: "",
    });
    expect(turn.agentState).toBe("");
  });

  test("stopping is shown until it ends", () => {
    const asked = reduce(after([accepted]), { type: "stopping", queryId: "q1", sessionId: "s1" });
    expect(findTurn(asked.sessions["s1"], "q1")?.stopping).toBe(true);
    const over = after([response({ finish_reason: "cancelled" })], asked);
    expect(findTurn(over.sessions["s1"], "q1")).toMatchObject({
      stopping: false,
      phase: "cancelled",
    });
  });
});

describe("sessions", () => {
  test("two of them interleaved stay apart", () => {
    const other = { query_id: "q2", session_id: "s2" };
    const state = after([
      accepted,
      { ...accepted, ...other },
      answerChunk(0, "a"),
      answerChunk(0, "x", other),
      answerChunk(1, "b"),
      answerChunk(1, "y", other),
      response({ answer: "ab" }),
    ]);
    expect(findTurn(state.sessions["s1"], "q1")).toMatchObject({ answer: "ab", phase: "answered" });
    expect(findTurn(state.sessions["s2"], "q2")).toMatchObject({ answer: "xy", phase: "running" });
  });

  test("a frame changes its own session only", () => {
    const state = after([accepted, { ...accepted, query_id: "q2", session_id: "s2" }]);
    const later = after([answerChunk(0, "a")], state);
    expect(later.sessions["s2"]).toBe(state.sessions["s2"]);
  });

  test("a frame of a turn whose question nobody knows is passed over", () => {
    expect(after([answerChunk(0, "x"), start, response()])).toBe(initialState);
  });

  test("pong changes nothing, changed facts are counted", () => {
    expect(after([{ type: "pong" }])).toBe(initialState);
    expect(after([{ type: "context_updated", user_id: "default" }]).factChanges).toBe(1);
  });

  test("a compaction is seen while it runs, and told of where it changes nothing", () => {
    const compaction = (state: string, message = ""): ServerEvent => ({
      ...{ type: "compaction", session_id: "s1", state, message, upto: "" },
    });
    const running = after([compaction("started")]);
    expect(running.sessions["s1"]?.compacting).toBe(true);
    const done = after([compaction("done", "3 turns")], running);
    expect([done.sessions["s1"]?.compacting, done.notices]).toEqual([false, []]);
    const failed = after([compaction("failed", "The model said nothing.")], running);
    expect(failed.sessions["s1"]?.compacting).toBe(false);
    expect(failed.notices.map(({ text }) => text)).toEqual(["The model said nothing."]);
    expect(after([compaction("refused")]).notices).toEqual([]);
  });

  test("frame types from a newer server are passed over", () => {
    const unknown = { type: "hologram", ...about } as unknown as ServerEvent;
    expect(after([unknown], after([accepted]))).toEqual(after([accepted]));
  });

  test("one that another tab deleted is shown to be gone", () => {
    const change = { type: "session_changed", session_id: "s1", change: "deleted" } as const;
    expect(after([change], after([accepted])).sessions["s1"]).toMatchObject({
      load: "missing",
      turns: [],
    });
    expect(after([{ ...change, change: "renamed" }])).toBe(initialState);
  });

  test("the list is newest first, renamed and shortened", () => {
    const entry = (session_id: string, updated_at: string) => ({
      ...{ session_id, updated_at, title: session_id, persona: "", created_at: updated_at },
      turns: 1,
      running: false,
      incognito: false,
    });
    const listed = reduce(initialState, {
      type: "listed",
      list: [entry("old", "2025-01-01T00:00:00Z"), entry("new", "2025-01-02T00:00:00Z")],
    });
    expect(listed.list?.map((one) => one.session_id)).toEqual(["new", "old"]);
    const renamed = reduce(listed, { type: "session_renamed", sessionId: "old", title: "Tea" });
    expect(renamed.list?.[1]?.title).toBe("Tea");
    const deleted = after(
      [{ type: "session_changed", session_id: "new", change: "deleted" }],
      renamed,
    );
    expect(deleted.list?.map((one) => one.session_id)).toEqual(["old"]);
  });
});

describe("history", () => {
  const loaded = (state = initialState, ...records: ReturnType<typeof record>[]) =>
    reduce(state, { type: "session_loaded", sessionId: "s1", detail: detail(records) }).sessions[
      "s1"
    ];

  test("saved turns are shown as they ended", () => {
    const session = loaded(
      initialState,
      record(),
      record({ query_id: "q2", status: "failed", finish_reason: "", reason: "No model." }),
      record({ query_id: "q3", status: "claimed", finish_reason: "", answer: "" }),
      record({ query_id: "q4", status: "received", position: 1 }),
    );
    expect(session?.load).toBe("ready");
    expect(session?.turns.map((turn) => [turn.phase, turn.ending?.finishReason])).toEqual([
      ["answered", "stop"],
      ["failed", "error"],
      ["running", undefined],
      ["queued", undefined],
    ]);
  });

  test("what was streamed is not taken back by an older journal", () => {
    const live = after([accepted, answerChunk(0, "much "), answerChunk(1, "text")]);
    const session = loaded(live, record({ status: "claimed", answer: "much " }));
    expect(session?.turns[0]).toMatchObject({ answer: "much text", n: 1 });
  });

  test("an end that was missed while away is taken over", () => {
    const live = after([accepted, answerChunk(0, "Be")]);
    expect(loaded(live, record())?.turns[0]).toMatchObject({
      answer: "Because.",
      phase: "answered",
    });
  });

  test("grades, votes and memories come with the record", () => {
    const fact = { memory_id: "f1", kind: "fact", score: 0 };
    const engram = { memory_id: "e1", kind: "engram", score: 0.7 };
    const grade = { score: 2, rubric_name: "style", feedback: "", reason: "", model: "m" };
    const saved = record({ facts: [fact], recalled: [engram], grade, sentiment: 1 });
    const fresh = loaded(initialState, saved)?.turns[0];
    expect(fresh).toMatchObject({ grade, sentiment: 1 });
    expect(fresh?.ending?.memories).toEqual([fact, engram]);
    const seen = loaded(after([accepted, response()]), saved)?.turns[0];
    expect(seen).toMatchObject({ grade, sentiment: 1 });
  });

  test("a summary and incognito come with the session", () => {
    const summary = { text: "Before.", upto: "q1", turns: 1, created_at: "" };
    const session = { ...detail([]).session, incognito: true };
    const loadedSession = reduce(initialState, {
      type: "session_loaded",
      sessionId: "s1",
      detail: detail([record()], { summary, session }),
    }).sessions["s1"];
    expect(loadedSession).toMatchObject({ summary, incognito: true });
  });

  test("a question that is not yet saved stays, last", () => {
    const asked = reduce(initialState, {
      type: "asked",
      queryId: "mine",
      sessionId: "s1",
      query: "And?",
      createdAt: "2025-01-01T00:00:00Z",
    });
    expect(loaded(asked, record())?.turns.map((turn) => turn.queryId)).toEqual(["q1", "mine"]);
  });

  test("a failed fetch does not hide what is there", () => {
    const ready = reduce(initialState, {
      type: "session_loaded",
      sessionId: "s1",
      detail: detail([]),
    });
    const failed = { type: "session_load_failed", sessionId: "s1", message: "No." } as const;
    expect(reduce(ready, failed).sessions["s1"]?.load).toBe("ready");
    expect(reduce(initialState, failed).sessions["s1"]).toMatchObject({
      load: "failed",
      loadError: "No.",
    });
  });
});
