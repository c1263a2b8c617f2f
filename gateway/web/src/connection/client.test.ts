import { beforeEach, describe, expect, test, vi } from "vitest";

import type { Session, Turn } from "../state/model";
import { createStore, type Store } from "../state/store";
import {
  detail as detailOf,
  about,
  accepted,
  answerChunk,
  record,
  response,
  snapshot,
  turn,
} from "../state/testing";
import type { ServerEvent } from "../wire/generated";
import type { SessionDetail } from "../wire/rest";
import { ChatClient } from "./client";
import { type Rest, rest as realRest, RestError } from "./rest";
import { FakeSocket } from "./testing";

let store: Store;
let client: ChatClient;
let rest: Rest;
let fetched: PromiseWithResolvers<SessionDetail>[];

// Promise.withResolvers is newer than Node 20.
interface PromiseWithResolvers<T> {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (reason: unknown) => void;
}

function deferred<T>(): PromiseWithResolvers<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<T>((good, bad) => {
    resolve = good;
    reject = bad;
  });
  return { promise, resolve, reject };
}

const detail = (...turns: SessionDetail["turns"]): SessionDetail => detailOf(turns);

const session = (id = "s1"): Session => {
  const found = store.get().sessions[id];
  if (found === undefined) {
    throw new Error(`no session ${id}`);
  }
  return found;
};

function there<T>(value: T | undefined): T {
  if (value === undefined) {
    throw new Error("it is not there");
  }
  return value;
}

async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

function reconnect(): void {
  FakeSocket.last.drop();
  client.hurry();
  FakeSocket.last.open();
}

beforeEach(() => {
  vi.useFakeTimers();
  FakeSocket.all = [];
  fetched = [];
  store = createStore();
  rest = {
    ...realRest,
    sessions: vi.fn(() => Promise.resolve([])),
    models: () => Promise.reject(new RestError(0, "unreachable", "no")),
    health: () => Promise.reject(new RestError(0, "unreachable", "no")),
    web: () => Promise.reject(new RestError(0, "unreachable", "no")),
    createSession: () => Promise.resolve("s1"),
    session: vi.fn(() => {
      const next = deferred<SessionDetail>();
      fetched.push(next);
      return next.promise;
    }),
  };
  client = new ChatClient({
    store,
    rest,
    url: "ws://here/ws/chat",
    makeSocket: FakeSocket.make,
    soon: (run) => run(),
  });
  client.start();
});

describe("a question", () => {
  test("goes out with an id of its own, and is shown at once", async () => {
    FakeSocket.last.open();
    const sessionId = await client.createSession();
    const queryId = client.ask(sessionId, "Why?");
    expect(FakeSocket.last.said).toEqual([
      { type: "query", query: "Why?", session_id: "s1", query_id: queryId },
    ]);
    expect(session().turns[0]).toMatchObject({ queryId, phase: "sending" });
  });

  test("that was not accepted is asked again after a reconnect, under the same id", () => {
    FakeSocket.last.open();
    const queryId = client.ask("s1", "Why?");
    reconnect();
    const again = FakeSocket.last.said.filter((frame) => frame.type === "query");
    expect(again).toMatchObject([{ query_id: queryId }]);
    FakeSocket.last.receive({ ...accepted, query_id: queryId });
    reconnect();
    expect(FakeSocket.last.said.filter((frame) => frame.type === "query")).toEqual([]);
  });

  test("that nobody accepts for ten seconds is asked again on the same socket", () => {
    FakeSocket.last.open();
    FakeSocket.last.receive({ type: "pong" });
    client.ask("s1", "Why?");
    vi.advanceTimersByTime(5000);
    expect(FakeSocket.last.said).toHaveLength(1);
    vi.advanceTimersByTime(5000);
    expect(FakeSocket.last.said).toHaveLength(2);
  });

  test("that was refused is not asked again", () => {
    FakeSocket.last.open();
    const queryId = client.ask("s1", "Why?");
    FakeSocket.last.receive({
      type: "error",
      code: "too_long",
      message: "Too long.",
      retryable: false,
      query_id: queryId,
      session_id: null,
    });
    reconnect();
    expect(FakeSocket.last.said.filter((frame) => frame.type === "query")).toEqual([]);
    expect(session().turns[0]).toMatchObject({ phase: "failed" });
  });
});

describe("stop", () => {
  test("is sent, and repeated after a reconnect until the turn is over", () => {
    FakeSocket.last.open();
    FakeSocket.last.receive(accepted);
    const [turn] = session().turns;
    if (turn !== undefined) {
      client.stopTurn(turn);
    }
    expect(FakeSocket.last.said).toContainEqual({ type: "stop", query_id: "q1" });
    reconnect();
    expect(FakeSocket.last.said).toContainEqual({ type: "stop", query_id: "q1" });
  });

  test("of a question that never left takes it back", () => {
    client.ask("s1", "Why?");
    const [turn] = session().turns;
    if (turn !== undefined) {
      client.stopTurn(turn);
    }
    FakeSocket.last.open();
    expect(FakeSocket.last.said.filter((frame) => frame.type === "query")).toEqual([]);
    expect(session().turns[0]?.phase).toBe("cancelled");
  });
});

describe("a session", () => {
  test("is followed first and fetched then; what comes meanwhile is replayed on top", async () => {
    FakeSocket.last.open();
    client.open("s1");
    expect(FakeSocket.last.said).toEqual([{ type: "resume", session_id: "s1" }]);
    FakeSocket.last.receive(snapshot({ n: 0, answer: "a" }), answerChunk(1, "b"));
    expect(session().turns).toEqual([]);
    fetched[0]?.resolve(
      detail(record({ query_id: "q0" }), record({ status: "claimed", answer: "" })),
    );
    await settle();
    FakeSocket.last.receive(answerChunk(2, "c"));
    expect(session().turns.map((turn) => [turn.queryId, turn.answer])).toEqual([
      ["q0", "Because."],
      ["q1", "abc"],
    ]);
  });

  test("is resumed behind the last chunk after a reconnect", async () => {
    FakeSocket.last.open();
    client.open("s1");
    fetched[0]?.resolve(detail());
    await settle();
    FakeSocket.last.receive(accepted);
    fetched.at(-1)?.resolve(detail(record({ status: "claimed", answer: "" })));
    await settle();
    FakeSocket.last.receive(answerChunk(0, "a"), answerChunk(1, "b"));
    reconnect();
    expect(FakeSocket.last.said).toEqual([
      { type: "resume", session_id: "s1", after: { query_id: "q1", attempt: 1, n: 1 } },
    ]);
    FakeSocket.last.receive(snapshot({ n: 2, answer: "abc" }));
    fetched.at(-1)?.resolve(detail(record({ status: "claimed", answer: "" })));
    await settle();
    expect(session().turns[0]).toMatchObject({ answer: "abc", n: 2 });
  });

  test("an older fetch that comes in late is passed over", async () => {
    FakeSocket.last.open();
    client.open("s1");
    reconnect();
    fetched[1]?.resolve(detail(record({ answer: "new" })));
    await settle();
    fetched[0]?.resolve(detail(record({ answer: "old" })));
    await settle();
    expect(session().turns[0]?.answer).toBe("new");
  });

  test("with a gap is resumed once, not for every chunk behind it", () => {
    FakeSocket.last.open();
    FakeSocket.last.receive(
      accepted,
      answerChunk(0, "a"),
      answerChunk(2, "c"),
      answerChunk(3, "d"),
    );
    expect(FakeSocket.last.said).toEqual([
      { type: "resume", session_id: "s1", after: { query_id: "q1", attempt: 1, n: 0 } },
    ]);
    FakeSocket.last.receive(snapshot({ n: 3, answer: "abcd" }), answerChunk(4, "e"));
    expect(session().turns[0]).toMatchObject({ answer: "abcde", gap: false });
  });

  test("that does not exist says so", async () => {
    FakeSocket.last.open();
    client.open("s1");
    fetched[0]?.reject(new RestError(404, "no_session", "There is no such chat."));
    await settle();
    expect(session().load).toBe("missing");
  });

  test("that cannot be fetched says so, and can be asked for again", async () => {
    FakeSocket.last.open();
    client.open("s1");
    fetched[0]?.reject(new RestError(503, "starting", "Still starting."));
    await settle();
    expect(session()).toMatchObject({ load: "failed", loadError: "Still starting." });
    client.reload("s1");
    fetched[1]?.resolve(detail(record()));
    await settle();
    expect(session()).toMatchObject({ load: "ready" });
  });

  test("another one goes on streaming beside it", async () => {
    FakeSocket.last.open();
    client.open("s1");
    FakeSocket.last.receive({ ...accepted, ...about, session_id: "s2", query_id: "q2" });
    FakeSocket.last.receive(answerChunk(0, "x", { session_id: "s2", query_id: "q2" }));
    expect(session("s2").turns[0]?.answer).toBe("x");
    fetched[0]?.resolve(detail());
    await settle();
    expect(session("s1").turns).toEqual([]);
  });
});

test("the list is looked at again after what changes it, once for what comes together", async () => {
  FakeSocket.last.open();
  await settle();
  vi.mocked(rest.sessions).mockClear();
  FakeSocket.last.receive(answerChunk(0, "x"));
  vi.advanceTimersByTime(1000);
  expect(rest.sessions).not.toHaveBeenCalled();
  FakeSocket.last.receive(accepted);
  FakeSocket.last.receive({ type: "session_changed", session_id: "s1", change: "created" });
  vi.advanceTimersByTime(1000);
  expect(rest.sessions).toHaveBeenCalledTimes(1);
  FakeSocket.last.receive(response());
  vi.advanceTimersByTime(1000);
  expect(rest.sessions).toHaveBeenCalledTimes(2);
});

describe("retry", () => {
  const failure = (queryId: string): ServerEvent => ({
    type: "error",
    code: "conversation_unavailable",
    message: "Try again.",
    retryable: true,
    query_id: queryId,
    session_id: "s1",
  });

  test("of a question that may not have arrived is the same turn", () => {
    FakeSocket.last.open();
    const queryId = client.ask("s1", "Why?");
    FakeSocket.last.receive(failure(queryId));
    const [turn] = session().turns;
    if (turn !== undefined) {
      client.retry(turn);
    }
    const asked = FakeSocket.last.said.filter((frame) => frame.type === "query");
    expect(asked.map((frame) => frame.query_id)).toEqual([queryId, queryId]);
    expect(session().turns).toMatchObject([{ queryId, phase: "sending", error: null }]);
  });

  test("of one in other words that may not have arrived stays in its place", () => {
    FakeSocket.last.open();
    FakeSocket.last.receive(accepted, response());
    const queryId = client.askAgain(there(session().turns[0]), "How?");
    FakeSocket.last.receive(failure(queryId));
    client.retry(there(session().turns[0]));
    const asked = FakeSocket.last.said.filter((frame) => frame.type === "query");
    expect(asked.map((frame) => [frame.query_id, frame.query, frame.after])).toEqual([
      [queryId, "How?", ""],
      [queryId, "How?", ""],
    ]);
  });

  test("of one that was accepted is a new version in its place", () => {
    FakeSocket.last.open();
    FakeSocket.last.receive(accepted, failure("q1"));
    const [turn] = session().turns;
    expect(turn?.phase).toBe("failed");
    client.retry(there(turn));
    expect(FakeSocket.last.said.at(-1)).toMatchObject({ type: "query", query: "Why?", after: "" });
    expect(session().turns).toMatchObject([{ query: "Why?", phase: "sending" }]);
    expect(session().turns[0]?.versions).toEqual(["q1", session().turns[0]?.queryId]);
  });
});

describe("branches", () => {
  const first = record({ query_id: "q1", versions: ["q1"] });
  const second = record({ query_id: "q2", after: "q1", versions: ["q2"] });
  const third = record({ query_id: "q3", after: "q2", versions: ["q3"] });

  async function shown(...records: SessionDetail["turns"]): Promise<readonly Turn[]> {
    fetched.at(-1)?.resolve(detail(...records));
    await settle();
    return session().turns;
  }

  test("a question in other words follows what its first version followed", async () => {
    FakeSocket.last.open();
    client.open("s1");
    const turns = await shown(first, second, third);
    const queryId = client.askAgain(there(turns[1]), "How?");
    expect(FakeSocket.last.said.at(-1)).toMatchObject({ query: "How?", after: "q1" });
    expect(session().turns.map((one) => one.queryId)).toEqual(["q1", queryId]);
    expect(session().turns[1]?.versions).toEqual(["q2", queryId]);
  });

  test("another version brings its own sequel, and takes away the former one", async () => {
    const put = vi.spyOn(rest, "showBranch").mockResolvedValue();
    FakeSocket.last.open();
    client.open("s1");
    await shown(first, second, third);
    const walking = client.showBranch("s1", "q9");
    await settle();
    await shown(first, { ...second, query_id: "q9", versions: ["q2", "q9"] });
    await walking;
    expect(put).toHaveBeenCalledWith("s1", "q9");
    expect(session().turns.map((one) => one.queryId)).toEqual(["q1", "q9"]);
  });

  test("an open turn of a branch that is not shown stays away", async () => {
    FakeSocket.last.open();
    client.open("s1");
    await shown(first, second);
    FakeSocket.last.receive(snapshot({ query_id: "q8", after: "q1" }));
    expect(session().turns.map((one) => one.queryId)).toEqual(["q1", "q2"]);
    FakeSocket.last.receive(snapshot({ query_id: "q3", after: "q2" }));
    expect(session().turns.map((one) => one.queryId)).toEqual(["q1", "q2", "q3"]);
  });

  test("what another tab asks is fetched, since it may begin a branch", async () => {
    FakeSocket.last.open();
    client.open("s1");
    await shown(first, second);
    FakeSocket.last.receive({ ...accepted, query_id: "q9" });
    await settle();
    await shown(first, { ...second, query_id: "q9", versions: ["q2", "q9"], status: "claimed" });
    expect(session().turns.map((one) => one.queryId)).toEqual(["q1", "q9"]);
  });

  test("what another tab deletes or shows is fetched, where the chat is followed", async () => {
    FakeSocket.last.open();
    client.open("s1");
    await shown(first, second, third);
    const change = { type: "session_changed", change: "turns" } as const;
    FakeSocket.last.receive({ ...change, session_id: "elsewhere" });
    FakeSocket.last.receive({ ...change, session_id: "s1" });
    await settle();
    await shown(first);
    expect(session().turns.map((one) => one.queryId)).toEqual(["q1"]);
    expect(rest.session).not.toHaveBeenCalledWith("elsewhere");
  });

  test("a deleted turn goes with what followed it", async () => {
    const remove = vi.spyOn(rest, "deleteTurn").mockResolvedValue();
    FakeSocket.last.open();
    client.open("s1");
    const turns = await shown(first, second);
    const removing = client.removeTurn(there(turns[1]));
    await settle();
    await shown(first);
    await removing;
    expect(remove).toHaveBeenCalledWith("s1", "q2");
    expect(session().turns.map((one) => one.queryId)).toEqual(["q1"]);
  });
});

test("the model that was picked for the chat goes with each question", () => {
  localStorage.setItem("local2.model.s1", "big");
  store.dispatch({
    type: "models",
    models: {
      backend: { kind: "ollama", url: "", demo: false, state: "ready", message: "" },
      ...{ roles: [], models: [{ name: "big", size_bytes: 0 }], options: {}, tools: [] },
      commands: [],
      refused: [],
      counts: {},
    },
  });
  FakeSocket.last.open();
  client.ask("s1", "Why?");
  client.ask("s2", "Why?");
  const asked = FakeSocket.last.said.filter((frame) => frame.type === "query");
  expect(asked.map((frame) => frame.model)).toEqual(["big", undefined]);
  localStorage.clear();
});

test("frames that arrive together are applied together", () => {
  const later: (() => void)[] = [];
  client.stop();
  client = new ChatClient({
    store,
    rest,
    url: "ws://here/ws/chat",
    makeSocket: FakeSocket.make,
    soon: (run) => later.push(run),
  });
  client.start();
  FakeSocket.last.open();
  const seen = vi.fn();
  store.subscribe(seen);
  FakeSocket.last.receive(accepted, answerChunk(0, "a"), answerChunk(1, "b"));
  expect(seen).not.toHaveBeenCalled();
  later[0]?.();
  expect(later).toHaveLength(1);
  expect(seen).toHaveBeenCalledTimes(1);
  expect(session().turns[0]?.answer).toBe("ab");
});

describe("after an answer", () => {
  test("a vote goes out; without a link it is said not to have", () => {
    client.vote(turn(), 1);
    expect(store.get().notices).toHaveLength(1);
    FakeSocket.last.open();
    client.vote(turn(), 1);
    expect(FakeSocket.last.said).toContainEqual({
      ...{ type: "feedback", query_id: "q1", sentiment: 1 },
    });
  });

  test("a summary that came is fetched with its session", async () => {
    FakeSocket.last.open();
    client.open("s1");
    fetched.at(-1)?.resolve(detail(record()));
    await settle();
    const before = fetched.length;
    const word = { type: "compaction", session_id: "s1", message: "", upto: "" } as const;
    FakeSocket.last.receive({ ...word, state: "started" });
    expect(fetched).toHaveLength(before);
    FakeSocket.last.receive({ ...word, state: "done", upto: "q1" });
    const summary = { text: "Before.", upto: "q1", turns: 1, created_at: "" };
    fetched.at(-1)?.resolve(detailOf([record()], { summary }));
    await settle();
    expect(fetched).toHaveLength(before + 1);
    expect(session().summary).toEqual(summary);
  });

  test("a chat can begin incognito", async () => {
    FakeSocket.last.open();
    const sessionId = await client.createSession(true);
    expect(session(sessionId).incognito).toBe(true);
  });
});
