// How is the gateway's REST interface asked?

import { type Check, Mismatch } from "../wire/check";
import {
  type FactView,
  type Health,
  type HitView,
  type Imported,
  type MemoryEdit,
  type MemoryList,
  type MemoryStatusView,
  type MemoryView,
  type Models,
  type NewFact,
  type NewSession,
  type ParticipantView,
  readFactView,
  readHealth,
  readHits,
  readImported,
  readMemoriesView,
  readMemoryList,
  readMemoryStatusView,
  readMemoryView,
  readModels,
  readParticipants,
  readSessionDetail,
  readSessionList,
  readSessionView,
  readSettings,
  readWeb,
  type SessionDetail,
  type SessionView,
  type Settings,
  type Shown,
  type Web,
  type WebWanted,
} from "../wire/rest";

/** The gateway said no, or nothing at all (`code` is then `unreachable`). `message` is for the user. */
export class RestError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const UNREACHABLE =
  "The gateway does not answer. Is LoCAL2 still running? `local2 status` says so.";

async function request(method: string, path: string, body?: unknown): Promise<unknown> {
  const init: RequestInit = { method };
  if (body instanceof Blob) {
    init.headers = { "content-type": body.type };
    init.body = body;
  } else if (body !== undefined) {
    init.headers = { "content-type": "application/json" };
    init.body = JSON.stringify(body);
  }
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    throw new RestError(0, "unreachable", UNREACHABLE, { cause: error });
  }
  const text = await response.text();
  if (!response.ok) {
    throw refusal(response.status, text);
  }
  return text === "" ? null : parse(text, response.status);
}

function parse(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RestError(status, "not_json", "The gateway answered with something else than JSON.");
  }
}

function refusal(status: number, text: string): RestError {
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string } };
    return new RestError(status, error.code, error.message);
  } catch {
    return new RestError(status, "http", `The gateway refused this (${status}).`);
  }
}

/** What a route answers, checked: what a page cannot read must not break it later, elsewhere. */
async function ask<T>(read: Check<T>, method: string, path: string, body?: unknown): Promise<T> {
  const answer = await request(method, path, body);
  try {
    return read(answer, "");
  } catch (error) {
    if (error instanceof Mismatch) {
      const words = `The gateway's answer is not understood (${error.message}). If LoCAL2 was updated, reload this page.`;
      throw new RestError(200, "mismatch", words, { cause: error });
    }
    throw error;
  }
}

const memory = (id: string): string => `/api/memory/${encodeURIComponent(id)}`;
const session = (id: string): string => `/api/sessions/${encodeURIComponent(id)}`;

export const rest = {
  sessions: async (): Promise<SessionView[]> =>
    (await ask(readSessionList, "GET", "/api/sessions")).sessions,
  createSession: async (incognito: boolean): Promise<string> =>
    (await ask(readSessionView, "POST", "/api/sessions", { incognito } satisfies NewSession))
      .session_id,
  session: (id: string): Promise<SessionDetail> => ask(readSessionDetail, "GET", session(id)),
  renameSession: async (id: string, title: string): Promise<void> => {
    await request("PATCH", session(id), { title });
  },
  deleteSession: async (id: string): Promise<void> => {
    await request("DELETE", session(id));
  },
  showBranch: async (id: string, queryId: string): Promise<void> => {
    await request("PUT", `${session(id)}/shown`, { query_id: queryId } satisfies Shown);
  },
  deleteTurn: async (id: string, queryId: string): Promise<void> => {
    await request("DELETE", `${session(id)}/turns/${encodeURIComponent(queryId)}`);
  },
  search: async (words: string): Promise<HitView[]> =>
    (await ask(readHits, "GET", `/api/search?q=${encodeURIComponent(words)}`)).hits,
  /** A page of what is remembered, newest first; `before` is the page's before it `next`. */
  memories: (kind: string, text: string, before = ""): Promise<MemoryList> =>
    ask(readMemoryList, "GET", `/api/memory?${new URLSearchParams({ kind, text, before })}`),
  /** Those of them that are still remembered. */
  memoryItems: async (ids: readonly string[]): Promise<MemoryView[]> => {
    const wanted = new URLSearchParams(ids.map((id) => ["id", id]));
    return (await ask(readMemoriesView, "GET", `/api/memory/items?${wanted}`)).memories;
  },
  searchMemory: async (words: string): Promise<MemoryView[]> =>
    (await ask(readMemoriesView, "GET", `/api/memory/search?q=${encodeURIComponent(words)}`))
      .memories,
  memoryStatus: (): Promise<MemoryStatusView> =>
    ask(readMemoryStatusView, "GET", "/api/memory/status"),
  pinFact: (fact: string): Promise<FactView> =>
    ask(readFactView, "POST", "/api/memory/facts", { fact } satisfies NewFact),
  editMemory: (id: string, text: string): Promise<MemoryView> =>
    ask(readMemoryView, "PATCH", memory(id), { text } satisfies MemoryEdit),
  shareMemory: (id: string, shared: boolean): Promise<MemoryView> =>
    ask(readMemoryView, "PATCH", memory(id), { shared } satisfies MemoryEdit),
  forgetMemory: async (id: string): Promise<void> => {
    await request("DELETE", memory(id));
  },
  forgetAll: async (): Promise<void> => {
    await request("DELETE", "/api/memory");
  },
  /** Lines of an export, of which the first has this number in its file. */
  importMemories: (lines: string, first: number): Promise<Imported> =>
    ask(
      readImported,
      "POST",
      `/api/memory/import?first=${first}`,
      new Blob([lines], { type: "application/x-ndjson" }),
    ),
  models: (): Promise<Models> => ask(readModels, "GET", "/api/models"),
  participants: async (): Promise<ParticipantView[]> =>
    (await ask(readParticipants, "GET", "/api/participants")).participants,
  settings: (): Promise<Settings> => ask(readSettings, "GET", "/api/settings"),
  changeSettings: async (section: string, changes: Record<string, unknown>): Promise<void> => {
    await request("PATCH", `/api/settings/${encodeURIComponent(section)}`, changes);
  },
  web: (): Promise<Web> => ask(readWeb, "GET", "/api/web"),
  allowWeb: (enabled: boolean): Promise<Web> =>
    ask(readWeb, "PUT", "/api/web", { enabled } satisfies WebWanted),
  health: (): Promise<Health> => ask(readHealth, "GET", "/health"),
};

export type Rest = typeof rest;
