// Generated from gateway/routes by scripts/generate-wire. Do not edit: change the models, then run it again.

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

/** A place in a text, in characters: from `start` up to `end`. */
export interface MarkView {
  start: number;
  end: number;
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

/** The body of POST; all of it may be left out. */
export interface NewSession {
  session_id?: string | null;
  title?: string;
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
