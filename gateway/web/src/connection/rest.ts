// How is the gateway's REST interface asked?

import type {
  Health,
  Hits,
  HitView,
  Models,
  ParticipantView,
  SessionDetail,
  SessionView,
  Settings,
  Shown,
  Web,
  WebWanted,
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
  if (body !== undefined) {
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

const session = (id: string): string => `/api/sessions/${encodeURIComponent(id)}`;

export const rest = {
  sessions: async (): Promise<SessionView[]> =>
    ((await request("GET", "/api/sessions")) as { sessions: SessionView[] }).sessions,
  createSession: async (): Promise<string> =>
    ((await request("POST", "/api/sessions", {})) as { session_id: string }).session_id,
  session: async (id: string): Promise<SessionDetail> =>
    (await request("GET", session(id))) as SessionDetail,
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
    ((await request("GET", `/api/search?q=${encodeURIComponent(words)}`)) as Hits).hits,
  models: async (): Promise<Models> => (await request("GET", "/api/models")) as Models,
  participants: async (): Promise<ParticipantView[]> =>
    ((await request("GET", "/api/participants")) as { participants: ParticipantView[] })
      .participants,
  settings: async (): Promise<Settings> => (await request("GET", "/api/settings")) as Settings,
  changeSettings: async (section: string, changes: Record<string, unknown>): Promise<void> => {
    await request("PATCH", `/api/settings/${encodeURIComponent(section)}`, changes);
  },
  web: async (): Promise<Web> => (await request("GET", "/api/web")) as Web,
  allowWeb: async (enabled: boolean): Promise<Web> =>
    (await request("PUT", "/api/web", { enabled } satisfies WebWanted)) as Web,
  health: async (): Promise<Health> => (await request("GET", "/health")) as Health,
};

export type Rest = typeof rest;
