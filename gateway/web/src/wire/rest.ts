// Generated from the routes of gateway/app.py by scripts/generate-wire. Do not edit: change the models, then run it again.

import type { Check } from "./check";
import * as is from "./check";

/** One request for approval of an open turn. */
export interface ApprovalView {
  approval_id: string;
  call_id: string;
  tool: string;
  args: Record<string, unknown>;
  reason: string;
  expires: string;
  state: string;
}

/** Who answers. */
export interface BackendView {
  kind: string;
  url: string;
  demo: boolean;
  state: string;
  message: string;
}

/** One slash command that may be typed. */
export interface CommandView {
  name: string;
  usage: string;
  help: string;
  tool: string;
}

/** What was pinned; `merged` where it was known already. */
export interface FactView {
  fact_id: string;
  fact: string;
  merged: boolean;
}

/** The critic's grade, or why there is none. */
export interface GradeView {
  score: number | null;
  rubric_name: string;
  feedback: string;
  reason: string;
  model: string;
}

/** The stack in one look. */
export interface Health {
  status: string;
  version: string;
  participants: Record<string, string>;
  bus: boolean;
  missing: string[];
  command: string;
}

/** A turn that holds the words; `marks` are places in the snippet. */
export interface HitView {
  session_id: string;
  title: string;
  query_id: string;
  created_at: string;
  snippet: string;
  marks: MarkView[];
}

/** The best first. */
export interface Hits {
  hits: HitView[];
}

/** What came of an import. */
export interface Imported {
  added: number;
  known: number;
}

/** A place in a text, in characters: from `start` up to `end`. */
export interface MarkView {
  start: number;
  end: number;
}

/** Some memories. */
export interface MemoriesView {
  memories: MemoryView[];
}

/** The body of PATCH: other words, or whether all users of this machine may recall it. */
export interface MemoryEdit {
  text?: string | null;
  shared?: boolean | null;
}

/** A page, newest first; `next` names the one after it, empty for none. */
export interface MemoryList {
  memories: MemoryView[];
  next: string;
  total: number;
}

/** How the memory does. */
export interface MemoryStatusView {
  model: string;
  dimensions: number;
  message: string;
  reembedded: number;
  reembedding: number;
  waiting: number;
  write_enabled: boolean;
  collective: boolean;
}

/** A memory that the prompt held; its text is looked up, while it is remembered. */
export interface MemoryUseView {
  memory_id: string;
  kind: string;
  score: number;
}

/**
 * One thing that is remembered: a pinned fact, an engram (of one turn), or an insight (of several).
 */
export interface MemoryView {
  memory_id: string;
  kind: string;
  text: string;
  created_at: string;
  updated_at: string;
  session_id: string;
  query_id: string;
  score: number;
  reason: string;
  query: string;
  intent: string;
  entities: string[];
  critic_score: number | null;
  sentiment: number;
  sources: string[];
  untrusted: boolean;
  shared: boolean;
  own: boolean;
}

/** One model that is installed; its size is 0 where nobody says. */
export interface ModelView {
  name: string;
  size_bytes: number;
}

/** What answers, and what can be asked of it. */
export interface Models {
  backend: BackendView;
  roles: RoleView[];
  models: ModelView[];
  options: Record<string, unknown>;
  tools: string[];
  commands: CommandView[];
  refused: RefusedView[];
  counts: Record<string, number>;
}

/** The body of POST: a fact to pin. */
export interface NewFact {
  fact: string;
  reason?: string;
}

/** The body of POST; all of it may be left out. */
export interface NewSession {
  session_id?: string | null;
  title?: string;
  incognito?: boolean;
}

/** One program; figures are null where only its own announcements are known. */
export interface ParticipantView {
  name: string;
  kind: string;
  sender_id: string;
  state: string;
  pid: number | null;
  uptime_s: number | null;
  restarts: number;
  cpu_percent: number | null;
  rss_bytes: number | null;
  loop_lag_s: number | null;
  queued: number | null;
  pools: Record<string, unknown>[];
  sent: number | null;
  received: number | null;
  gaps: number | null;
  dropped: number | null;
  refused: number | null;
  reason: string;
  tool: string | null;
}

/** All programs by name. */
export interface Participants {
  participants: ParticipantView[];
  supervisor: string;
  source: string;
}

/** The personas that a conversation can take on. */
export interface PersonaList {
  personas: PersonaView[];
}

/** One persona. */
export interface PersonaView {
  name: string;
  description: string;
}

/** A yaml that cannot be used as it is. */
export interface ProblemView {
  section: string;
  message: string;
}

/** One tool that was announced and cannot be used. */
export interface RefusedView {
  tool: string;
  name: string;
  reason: string;
}

/** The body of PATCH. */
export interface Rename {
  title: string;
}

/** One role and the model that fills it. */
export interface RoleView {
  role: string;
  model: string;
  available: boolean;
  hint: string;
}

/** A conversation with the turns of the branch that is shown, oldest first. */
export interface SessionDetail {
  session: SessionView;
  turns: TurnView[];
  summary: SummaryView | null;
}

/** Newest first. */
export interface SessionList {
  sessions: SessionView[];
}

/** One conversation in a list. */
export interface SessionView {
  session_id: string;
  title: string;
  created_at: string;
  updated_at: string;
  turns: number;
  running: boolean;
  persona: string;
  incognito: boolean;
}

/** One key of one section. */
export interface SettingView {
  section: string;
  key: string;
  value: unknown;
  default: unknown;
  source: string;
  description: string;
  type: string;
  choices: unknown[] | null;
  minimum: number | null;
  above: number | null;
  maximum: number | null;
  below: number | null;
  restart: boolean;
}

/** All that can be set. */
export interface Settings {
  settings: SettingView[];
  problems: ProblemView[];
}

/** The body of PUT /shown: a turn of the branch to show. */
export interface Shown {
  query_id: string;
}

/** What stands in the prompt for the oldest turns, up to `upto`. */
export interface SummaryView {
  text: string;
  upto: string;
  turns: number;
  created_at: string;
}

/** One tool call. */
export interface ToolCallView {
  call_id: string;
  tool: string;
  args: Record<string, unknown>;
  outcome: string;
  result: string;
  sources: Record<string, unknown>[];
  seconds: number;
  untrusted: boolean;
}

/** One turn; for an open one the text is what was journalled so far. */
export interface TurnView {
  query_id: string;
  query: string;
  created_at: string;
  status: "received" | "claimed" | "waiting" | "answered" | "failed" | "cancelled";
  position: number;
  finish_reason: string;
  reason: string;
  code: string;
  retryable: boolean;
  answer: string;
  thinking: string;
  tool_calls: ToolCallView[];
  approvals: ApprovalView[];
  model: string;
  demo: boolean;
  prompt_tokens: number | null;
  answer_tokens: number | null;
  num_ctx: number | null;
  left_out: number;
  first_token_s: number | null;
  seconds: number | null;
  facts: MemoryUseView[];
  recalled: MemoryUseView[];
  not_recalled: string;
  groundedness: string;
  grade: GradeView | null;
  sentiment: number;
  after: string;
  versions: string[];
}

/** What reaches the web. */
export interface Web {
  enabled: boolean;
  tools: WebToolView[];
  problems: string[];
}

/** A tool that reaches the web. */
export interface WebToolView {
  name: string;
  tool: string;
  enabled: boolean;
}

/** What the user decides. */
export interface WebWanted {
  enabled: boolean;
}

export const readApprovalView: Check<ApprovalView> = is.fields({
  approval_id: is.text,
  call_id: is.text,
  tool: is.text,
  args: is.record(is.anything),
  reason: is.text,
  expires: is.text,
  state: is.text,
});

export const readBackendView: Check<BackendView> = is.fields({
  kind: is.text,
  url: is.text,
  demo: is.flag,
  state: is.text,
  message: is.text,
});

export const readCommandView: Check<CommandView> = is.fields({
  name: is.text,
  usage: is.text,
  help: is.text,
  tool: is.text,
});

export const readFactView: Check<FactView> = is.fields({
  fact_id: is.text,
  fact: is.text,
  merged: is.flag,
});

export const readGradeView: Check<GradeView> = is.fields({
  score: is.oneOf(is.number, is.nothing),
  rubric_name: is.text,
  feedback: is.text,
  reason: is.text,
  model: is.text,
});

export const readHealth: Check<Health> = is.fields({
  status: is.text,
  version: is.text,
  participants: is.record(is.text),
  bus: is.flag,
  missing: is.list(is.text),
  command: is.withDefault(is.text, "local2"),
});

export const readMarkView: Check<MarkView> = is.fields({
  start: is.number,
  end: is.number,
});

export const readHitView: Check<HitView> = is.fields({
  session_id: is.text,
  title: is.text,
  query_id: is.text,
  created_at: is.text,
  snippet: is.text,
  marks: is.list(readMarkView),
});

export const readHits: Check<Hits> = is.fields({
  hits: is.list(readHitView),
});

export const readImported: Check<Imported> = is.fields({
  added: is.number,
  known: is.number,
});

export const readMemoryView: Check<MemoryView> = is.fields({
  memory_id: is.text,
  kind: is.text,
  text: is.text,
  created_at: is.text,
  updated_at: is.text,
  session_id: is.text,
  query_id: is.text,
  score: is.number,
  reason: is.text,
  query: is.text,
  intent: is.text,
  entities: is.list(is.text),
  critic_score: is.oneOf(is.number, is.nothing),
  sentiment: is.number,
  sources: is.list(is.text),
  untrusted: is.flag,
  shared: is.flag,
  own: is.flag,
});

export const readMemoriesView: Check<MemoriesView> = is.fields({
  memories: is.list(readMemoryView),
});

export const readMemoryList: Check<MemoryList> = is.fields({
  memories: is.list(readMemoryView),
  next: is.text,
  total: is.number,
});

export const readMemoryStatusView: Check<MemoryStatusView> = is.fields({
  model: is.text,
  dimensions: is.number,
  message: is.text,
  reembedded: is.number,
  reembedding: is.number,
  waiting: is.number,
  write_enabled: is.flag,
  collective: is.flag,
});

export const readMemoryUseView: Check<MemoryUseView> = is.fields({
  memory_id: is.text,
  kind: is.text,
  score: is.number,
});

export const readModelView: Check<ModelView> = is.fields({
  name: is.text,
  size_bytes: is.number,
});

export const readRoleView: Check<RoleView> = is.fields({
  role: is.text,
  model: is.text,
  available: is.flag,
  hint: is.text,
});

export const readRefusedView: Check<RefusedView> = is.fields({
  tool: is.text,
  name: is.text,
  reason: is.text,
});

export const readModels: Check<Models> = is.fields({
  backend: readBackendView,
  roles: is.list(readRoleView),
  models: is.list(readModelView),
  options: is.withDefault(is.record(is.anything), {}),
  tools: is.withDefault(is.list(is.text), []),
  commands: is.withDefault(is.list(readCommandView), []),
  refused: is.withDefault(is.list(readRefusedView), []),
  counts: is.withDefault(is.record(is.number), {}),
});

export const readParticipantView: Check<ParticipantView> = is.fields({
  name: is.text,
  kind: is.text,
  sender_id: is.text,
  state: is.text,
  pid: is.oneOf(is.number, is.nothing),
  uptime_s: is.withDefault(is.oneOf(is.number, is.nothing), null),
  restarts: is.withDefault(is.number, 0),
  cpu_percent: is.withDefault(is.oneOf(is.number, is.nothing), null),
  rss_bytes: is.withDefault(is.oneOf(is.number, is.nothing), null),
  loop_lag_s: is.withDefault(is.oneOf(is.number, is.nothing), null),
  queued: is.withDefault(is.oneOf(is.number, is.nothing), null),
  pools: is.withDefault(is.list(is.record(is.anything)), []),
  sent: is.withDefault(is.oneOf(is.number, is.nothing), null),
  received: is.withDefault(is.oneOf(is.number, is.nothing), null),
  gaps: is.withDefault(is.oneOf(is.number, is.nothing), null),
  dropped: is.withDefault(is.oneOf(is.number, is.nothing), null),
  refused: is.withDefault(is.oneOf(is.number, is.nothing), null),
  reason: is.withDefault(is.text, ""),
  tool: is.withDefault(is.oneOf(is.text, is.nothing), null),
});

export const readParticipants: Check<Participants> = is.fields({
  participants: is.list(readParticipantView),
  supervisor: is.text,
  source: is.text,
});

export const readPersonaView: Check<PersonaView> = is.fields({
  name: is.text,
  description: is.text,
});

export const readPersonaList: Check<PersonaList> = is.fields({
  personas: is.list(readPersonaView),
});

export const readProblemView: Check<ProblemView> = is.fields({
  section: is.text,
  message: is.text,
});

export const readSessionView: Check<SessionView> = is.fields({
  session_id: is.text,
  title: is.text,
  created_at: is.text,
  updated_at: is.text,
  turns: is.number,
  running: is.flag,
  persona: is.text,
  incognito: is.flag,
});

export const readToolCallView: Check<ToolCallView> = is.fields({
  call_id: is.text,
  tool: is.text,
  args: is.record(is.anything),
  outcome: is.text,
  result: is.text,
  sources: is.list(is.record(is.anything)),
  seconds: is.number,
  untrusted: is.flag,
});

export const readTurnView: Check<TurnView> = is.fields({
  query_id: is.text,
  query: is.text,
  created_at: is.text,
  status: is.only("received", "claimed", "waiting", "answered", "failed", "cancelled"),
  position: is.number,
  finish_reason: is.text,
  reason: is.text,
  code: is.text,
  retryable: is.flag,
  answer: is.text,
  thinking: is.text,
  tool_calls: is.list(readToolCallView),
  approvals: is.list(readApprovalView),
  model: is.text,
  demo: is.flag,
  prompt_tokens: is.oneOf(is.number, is.nothing),
  answer_tokens: is.oneOf(is.number, is.nothing),
  num_ctx: is.oneOf(is.number, is.nothing),
  left_out: is.number,
  first_token_s: is.oneOf(is.number, is.nothing),
  seconds: is.oneOf(is.number, is.nothing),
  facts: is.list(readMemoryUseView),
  recalled: is.list(readMemoryUseView),
  not_recalled: is.text,
  groundedness: is.text,
  grade: is.oneOf(readGradeView, is.nothing),
  sentiment: is.number,
  after: is.text,
  versions: is.list(is.text),
});

export const readSummaryView: Check<SummaryView> = is.fields({
  text: is.text,
  upto: is.text,
  turns: is.number,
  created_at: is.text,
});

export const readSessionDetail: Check<SessionDetail> = is.fields({
  session: readSessionView,
  turns: is.list(readTurnView),
  summary: is.oneOf(readSummaryView, is.nothing),
});

export const readSessionList: Check<SessionList> = is.fields({
  sessions: is.list(readSessionView),
});

export const readSettingView: Check<SettingView> = is.fields({
  section: is.text,
  key: is.text,
  value: is.anything,
  default: is.anything,
  source: is.text,
  description: is.text,
  type: is.text,
  choices: is.oneOf(is.list(is.anything), is.nothing),
  minimum: is.oneOf(is.number, is.nothing),
  above: is.oneOf(is.number, is.nothing),
  maximum: is.oneOf(is.number, is.nothing),
  below: is.oneOf(is.number, is.nothing),
  restart: is.flag,
});

export const readSettings: Check<Settings> = is.fields({
  settings: is.list(readSettingView),
  problems: is.list(readProblemView),
});

export const readWebToolView: Check<WebToolView> = is.fields({
  name: is.text,
  tool: is.text,
  enabled: is.flag,
});

export const readWeb: Check<Web> = is.fields({
  enabled: is.flag,
  tools: is.list(readWebToolView),
  problems: is.list(is.text),
});
