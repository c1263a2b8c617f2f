// A gateway for looking at the UI without one: `npm run build && npm run mock`, or beside `npm run dev`.
// It speaks the contract of gateway/wire.py with scripted answers (dev/script.mjs), and serves dist/ under
// the same policy. MOCK_PORT (8799), MOCK_TOKEN_MS (25), MOCK_BACKEND (embedded, ollama, none).

import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { WebSocketServer } from "ws";

import { piecesOf, stepsFor } from "./script.mjs";

const PORT = Number(process.env.MOCK_PORT ?? 8799);
const TOKEN_MS = Number(process.env.MOCK_TOKEN_MS ?? 25);
const BACKEND = process.env.MOCK_BACKEND ?? "embedded";
const DIST = join(import.meta.dirname, "..", "dist");
const CSP =
  "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
  "connect-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'";
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const now = () => new Date().toISOString();

// ---------------------------------------------------------------------------- sessions

const sessions = new Map();
const watchers = new Map();
const approvals = new Map();

function newSession(title = "") {
  const session = {
    session_id: randomUUID(),
    title,
    created_at: now(),
    updated_at: now(),
    turns: [],
    running: false,
    persona: "",
  };
  sessions.set(session.session_id, session);
  return session;
}

const summary = (session) => ({ ...session, turns: session.turns.length });

const INNER = ["state", "attempt", "n", "stopped"];

function record(turn) {
  return Object.fromEntries(Object.entries(turn).filter(([key]) => !INNER.includes(key)));
}

function newTurn(queryId, query) {
  return {
    query_id: queryId,
    query,
    created_at: now(),
    status: "received",
    position: 0,
    finish_reason: "",
    reason: "",
    code: "",
    retryable: false,
    answer: "",
    thinking: "",
    tool_calls: [],
    model: "",
    demo: false,
    prompt_tokens: null,
    answer_tokens: null,
    num_ctx: null,
    left_out: 0,
    first_token_s: null,
    seconds: null,
    approvals: [],
    after: "",
    versions: [queryId],
    state: "QUEUED",
    attempt: 0,
    n: -1,
  };
}

// ---------------------------------------------------------------------------- a turn

function publish(session, turn, frame) {
  const text = JSON.stringify({
    query_id: turn.query_id,
    session_id: session.session_id,
    ...frame,
  });
  for (const socket of watchers.get(session.session_id) ?? []) {
    socket.send(text);
  }
}

async function work(session) {
  if (session.running) {
    return;
  }
  session.running = true;
  for (;;) {
    const turn = session.turns.find((one) => one.status === "received");
    if (turn === undefined) {
      break;
    }
    await answer(session, turn);
  }
  session.running = false;
}

async function answer(session, turn) {
  const started = Date.now();
  Object.assign(turn, { status: "claimed", attempt: 1, n: -1 });
  state(session, turn, "GENERATING");
  await sleep(TOKEN_MS * 16);
  turn.first_token_s = (Date.now() - started) / 1000;
  for (const step of stepsFor(turn.query)) {
    if (turn.stopped) {
      break;
    }
    await STEPS[step.do](session, turn, step);
  }
  if (turn.status !== "failed") {
    turn.status = turn.stopped ? "cancelled" : "answered";
  }
  finish(session, turn, started);
}

function finish(session, turn, started) {
  const reasons = { answered: "stop", cancelled: "cancelled", failed: "error" };
  Object.assign(turn, {
    finish_reason: reasons[turn.status],
    reason:
      turn.status === "failed"
        ? "The model server closed the connection in mid-answer. Ask again."
        : "",
    model: BACKEND === "embedded" ? "qwen2.5-1.5b-instruct" : "gemma3:4b",
    demo: BACKEND === "embedded",
    prompt_tokens: 412,
    answer_tokens: turn.n + 1,
    num_ctx: 8192,
    left_out: 0,
    seconds: (Date.now() - started) / 1000,
  });
  session.updated_at = now();
  const { answer: text, thinking, tool_calls, ...rest } = record(turn);
  publish(session, turn, {
    ...rest,
    type: "response",
    answer: text,
    thinking,
    tool_calls,
    capsules: [],
    pinned_facts: [],
    groundedness: "knowledge",
  });
}

function state(session, turn, name, note = "") {
  turn.state = name;
  publish(session, turn, { type: "agent_state", agent: "generator", state: name, note });
}

async function stream(session, turn, type, field, text) {
  for (const chunk of piecesOf(text)) {
    if (turn.stopped) {
      return;
    }
    await sleep(TOKEN_MS);
    turn.n += 1;
    turn[field] += chunk;
    const retract = type === "thinking_chunk" ? { retract: false } : {};
    publish(session, turn, { type, chunk, attempt: turn.attempt, n: turn.n, ...retract });
  }
}

const STEPS = {
  think: (session, turn, { text }) => stream(session, turn, "thinking_chunk", "thinking", text),
  say: (session, turn, { text }) => stream(session, turn, "answer_chunk", "answer", text),
  async tool(session, turn, step) {
    const call = { call_id: randomUUID(), tool: step.name, args: step.args };
    state(session, turn, "AWAITING_RESULT");
    turn.tool_calls.push({
      ...call,
      outcome: "running",
      result: "",
      sources: [],
      seconds: 0,
      untrusted: false,
    });
    publish(session, turn, { type: "tool_start", ...call });
    await sleep(TOKEN_MS * 30);
    const end = {
      outcome: step.outcome,
      result: step.result,
      sources: step.sources,
      seconds: step.seconds,
    };
    const untrusted = step.name.startsWith("web");
    turn.tool_calls[turn.tool_calls.length - 1] = { ...call, ...end, untrusted };
    publish(session, turn, { type: "tool_result", call_id: call.call_id, tool: call.tool, ...end });
    state(session, turn, "GENERATING");
  },
  async approve(session, turn) {
    const approvalId = randomUUID();
    state(session, turn, "AWAITING_APPROVAL");
    publish(session, turn, {
      type: "approval_request",
      approval_id: approvalId,
      call_id: randomUUID(),
      tool: "remember_this",
      reason: "It changes what is remembered of you.",
      args: { text: "The user likes short answers." },
      expires: new Date(Date.now() + 120_000).toISOString(),
    });
    const approved = await new Promise((done) => approvals.set(approvalId, done));
    publish(session, turn, {
      type: "approval_result",
      approval_id: approvalId,
      state: approved ? "taken" : "denied",
    });
  },
  async fail(session, turn) {
    turn.status = "failed";
  },
  async drop(session) {
    for (const socket of watchers.get(session.session_id) ?? []) {
      socket.terminate();
    }
    await sleep(3000);
  },
  async lose(session, turn, { text }) {
    turn.n += 1;
    turn.answer += text;
  },
  async restart(session, turn) {
    state(session, turn, "GENERATING", "the generator was restarted, the answer starts anew");
    await sleep(1200);
    Object.assign(turn, { attempt: turn.attempt + 1, n: -1, answer: "", thinking: "" });
  },
};

// ---------------------------------------------------------------------------- the socket

function watch(socket, sessionId) {
  const set = watchers.get(sessionId) ?? new Set();
  watchers.set(sessionId, set.add(socket));
}

/** One branch is all that this mock keeps: a new version takes the place of what followed. */
function place(session, turn, after) {
  const end =
    after === undefined
      ? session.turns.length
      : session.turns.findIndex((one) => one.query_id === after) + 1;
  turn.versions = [...(session.turns[end]?.versions ?? []), turn.query_id];
  turn.after = session.turns[end - 1]?.query_id ?? "";
  session.turns.splice(end, session.turns.length, turn);
}

const FRAMES = {
  ping: (socket) => socket.send('{"type":"pong"}'),
  query(socket, frame) {
    const session = sessions.get(frame.session_id) ?? newSession();
    watch(socket, session.session_id);
    const known = session.turns.find((turn) => turn.query_id === frame.query_id);
    const turn = known ?? newTurn(frame.query_id ?? randomUUID(), frame.query);
    const waiting = session.turns.filter(
      (one) => one.status === "received" || one.status === "claimed",
    );
    if (known === undefined) {
      place(session, turn, frame.after);
      session.title ||= frame.query.slice(0, 60);
    }
    publish(session, turn, { type: "accepted", query: turn.query, created_at: turn.created_at });
    if (known === undefined && waiting.length > 0) {
      publish(session, turn, { type: "queued", position: waiting.length });
    }
    void work(session);
  },
  resume(socket, { session_id: sessionId }) {
    watch(socket, sessionId);
    for (const turn of sessions.get(sessionId)?.turns ?? []) {
      if (turn.status === "received" || turn.status === "claimed") {
        const { query_id, query, created_at, attempt, n, thinking, answer, tool_calls, after } =
          turn;
        socket.send(
          JSON.stringify({
            type: "snapshot",
            session_id: sessionId,
            ...{ query_id, query, created_at, attempt, n, thinking, answer, tool_calls, after },
            approvals: [],
            state: turn.status === "received" ? "QUEUED" : turn.state,
          }),
        );
      }
    }
  },
  stop(_socket, { query_id: queryId }) {
    for (const session of sessions.values()) {
      const turn = session.turns.find((one) => one.query_id === queryId);
      if (turn?.status === "received") {
        turn.status = "cancelled";
        finish(session, turn, Date.now());
      } else if (turn !== undefined) {
        turn.stopped = true;
      }
    }
  },
  approve(_socket, { approval_id: approvalId, approved }) {
    approvals.get(approvalId)?.(approved);
  },
};

function received(socket, data) {
  const frame = JSON.parse(data);
  const handle = FRAMES[frame.type ?? "query"];
  if (handle === undefined) {
    const message = `${frame.type} is not part of this mock.`;
    socket.send(
      JSON.stringify({
        type: "error",
        code: "not_here",
        message,
        retryable: false,
        query_id: null,
        session_id: null,
      }),
    );
    return;
  }
  handle(socket, frame);
}

// ---------------------------------------------------------------------------- REST

const PARTICIPANTS = [
  ["proxy", "proxy", "ready", null],
  ["conversation", "service", "ready", null],
  ["generator", "agent", "idle", null],
  ["model_server", "service", "ready", null],
  ["datetime", "tool", "ready", "get_datetime"],
  ["web_search", "tool", "draining", "web_search"],
  ["notes", "tool", "down", "notes.add"],
  ["ops", "service", "ready", null],
  ["gateway", "gateway", "ready", null],
];

const settings = [
  [
    "generator",
    "max_tool_iterations",
    6,
    6,
    "default",
    "How many rounds of tool calls one turn may have.",
    "int",
  ],
  [
    "generator",
    "stream_journal_s",
    0.25,
    0.25,
    "default",
    "How often the text so far is journalled, in seconds.",
    "float",
  ],
  [
    "generator",
    "think",
    true,
    true,
    "default",
    "Ask the model to think before it answers, where it can.",
    "bool",
  ],
  [
    "models",
    "default",
    "gemma3:4b",
    "qwen3:4b",
    "user",
    "The model for the role `default`.",
    "str",
  ],
  [
    "models",
    "options",
    { num_ctx: 8192, temperature: 0.7 },
    { num_ctx: 8192, temperature: 0.7 },
    "default",
    "Options sent with each request.",
    "dict",
  ],
  [
    "gateway",
    "port",
    8765,
    8765,
    "default",
    "The port of this page, on the loopback interface.",
    "int",
  ],
  [
    "gateway",
    "allowed_origins",
    [],
    [],
    "default",
    "Further origins that may open the socket.",
    "list[str]",
  ],
  ["system", "level", "info", "info", "default", "What goes into the logs.", "str"],
  [
    "generator",
    "system_prompt",
    "You are LoCAL2, a helpful assistant that runs on the user's own computer. Be brief.",
    "You are LoCAL2, a helpful assistant that runs on the user's own computer.",
    "user",
    "What the model is told of itself.",
    "str",
  ],
  [
    "generator",
    "temperature",
    null,
    null,
    "default",
    "How freely words are chosen; empty: the model's own.",
    "float or null",
  ],
  ["web_search", "tool", "web_search", "web_search", "default", "As the model calls it.", "str"],
  ["web_search", "max_results", 6, 6, "default", "Results given to the model at most.", "int"],
].map(([section, key, value, fallback, source, description, type]) => ({
  ...{ section, key, value, source, description, type },
  choices: key === "level" ? ["debug", "info", "warning"] : null,
  minimum: key === "port" ? 1024 : null,
  maximum: key === "port" ? 65535 : null,
  above: key === "stream_journal_s" ? 0 : null,
  below: null,
  restart: section === "system" || key === "port",
  default: fallback,
}));

const BACKENDS = {
  embedded: {
    kind: "embedded",
    url: "http://127.0.0.1:11500",
    demo: true,
    state: "ready",
    message:
      "A small demo model that runs inside LoCAL2 answers. It invents facts. For a good one install Ollama (ollama.com), then: ollama pull gemma3:4b",
  },
  ollama: {
    kind: "ollama",
    url: "http://127.0.0.1:11434",
    demo: false,
    state: "ready",
    message: "",
  },
  none: {
    kind: "none",
    url: "",
    demo: false,
    state: "down",
    message:
      "Start Ollama with `ollama serve`, or install the embedded model with `local2 up --model small`.",
  },
};

const web = {
  enabled: false,
  problems: [],
  tools: [{ name: "web_search", tool: "web_search", enabled: false }],
};

const ROUTES = {
  "GET /api/web": () => web,
  "PUT /api/web": ({ enabled }) => Object.assign(web, { enabled }),
  "GET /api/search": () => ({
    hits: [...sessions.values()].map((session) => ({
      session_id: session.session_id,
      title: session.title,
      query_id: session.turns[0]?.query_id ?? "",
      created_at: session.created_at,
      snippet: session.title,
      marks: [{ start: 0, end: 4 }],
    })),
  }),
  "GET /health": () => ({
    status: "ok",
    version: "0.1.0",
    bus: true,
    command: "local2",
    missing: [],
    participants: Object.fromEntries(PARTICIPANTS.map(([name, , now_]) => [name, now_])),
  }),
  "GET /api/sessions": () => ({ sessions: [...sessions.values()].map(summary) }),
  "POST /api/sessions": () => summary(newSession()),
  "GET /api/models": () => ({
    backend: BACKENDS[BACKEND],
    models: [
      { name: "qwen2.5-1.5b-instruct", size_bytes: 1_120_000_000 },
      { name: "all-minilm-l6-v2", size_bytes: 46_000_000 },
    ],
    roles: [
      { role: "default", model: "qwen2.5-1.5b-instruct", available: true, hint: "" },
      {
        role: "quality",
        model: "gemma3:12b",
        available: false,
        hint: "Run `ollama pull gemma3:12b`.",
      },
      { role: "vision", model: "", available: false, hint: "The embedded model sees no images." },
      { role: "embedding", model: "all-minilm-l6-v2", available: true, hint: "" },
    ],
    options: {},
    tools: ["get_datetime", "web_search"],
    commands: [
      { name: "help", usage: "/help", help: "What can be typed", tool: "" },
      { name: "search", usage: "/search <query>", help: "Search the web", tool: "web_search" },
    ],
  }),
  "GET /api/participants": () => ({
    supervisor: "ok",
    source: "ops",
    participants: PARTICIPANTS.map(([name, kind, now_, tool], index) => ({
      ...{ name, kind, state: now_, tool },
      sender_id: `${name}_${kind}`,
      pid: now_ === "down" ? null : 4100 + index,
      uptime_s: now_ === "down" ? null : process.uptime() + 3700,
      restarts: index === 5 ? 2 : 0,
      rss_bytes: now_ === "down" ? null : 21_000_000 + index * 1_300_000,
      reason: now_ === "down" ? "notes.yaml: line 3 is no yaml" : "",
    })),
  }),
  "GET /api/settings": () => ({ settings, problems: [] }),
};

function sessionRoute(method, id, body) {
  const session = sessions.get(id);
  if (session === undefined) {
    return [404, { error: { code: "no_session", message: "There is no such chat." } }];
  }
  if (method === "PATCH") {
    session.title = body.title;
  } else if (method === "DELETE") {
    sessions.delete(id);
    return [204, null];
  }
  return [200, { session: summary(session), turns: session.turns.map(record) }];
}

function settingRoute(section, body) {
  for (const [key, value] of Object.entries(body)) {
    const setting = settings.find((one) => one.section === section && one.key === key);
    Object.assign(setting, { value, source: "user" });
  }
  return [200, {}];
}

function api(method, path, body) {
  const [, kind, name] = /^\/api\/(sessions|settings)\/([^/]+)/.exec(path) ?? [];
  if (kind === "sessions") {
    return sessionRoute(method, name, body);
  }
  if (kind === "settings" && method === "PATCH") {
    return settingRoute(name, body);
  }
  const route = ROUTES[`${method} ${path}`];
  return route
    ? [200, route(body)]
    : [404, { error: { code: "not_found", message: `No ${path} here.` } }];
}

async function file(path) {
  const inside = normalize(path).replace(/^(\.\.[/\\])+/, "");
  try {
    return [extname(inside), await readFile(join(DIST, inside))];
  } catch {
    return [".html", await readFile(join(DIST, "index.html"))];
  }
}

async function handle(request, response) {
  const { pathname } = new URL(request.url, "http://localhost");
  if (pathname.startsWith("/api/") || pathname === "/health") {
    let text = "";
    for await (const piece of request) {
      text += piece;
    }
    const [status, body] = api(request.method, pathname, text === "" ? {} : JSON.parse(text));
    response.writeHead(status, { "content-type": "application/json" });
    response.end(body === null ? "" : JSON.stringify(body));
    return;
  }
  const [extension, content] = await file(pathname === "/" ? "/index.html" : pathname);
  response.writeHead(200, {
    "content-type": TYPES[extension] ?? "application/octet-stream",
    "content-security-policy": CSP,
  });
  response.end(content);
}

const server = createServer((request, response) => void handle(request, response));
const sockets = new WebSocketServer({ server });
sockets.on("connection", (socket) => {
  socket.on("message", (data) => received(socket, String(data)));
  socket.on("close", () => {
    for (const set of watchers.values()) {
      set.delete(socket);
    }
  });
});
server.listen(PORT, "127.0.0.1", () => console.log(`mock gateway: http://127.0.0.1:${PORT}`));
