// The bodies of the gateway's REST interface.

import type { ApprovalView, ToolCallView } from "./generated";

export interface SessionSummary {
  session_id: string;
  title: string;
  created_at: string;
  updated_at: string;
  turns: number;
  running: boolean;
}

export type TurnStatus = "received" | "claimed" | "waiting" | "answered" | "failed" | "cancelled";

export interface TurnRecord {
  query_id: string;
  query: string;
  created_at: string;
  status: TurnStatus;
  /** How many turns come before it, while it is `received`. */
  position: number;
  finish_reason: string;
  reason: string;
  code: string;
  retryable: boolean;
  answer: string;
  thinking: string;
  tool_calls: ToolCallView[];
  /** What its user was asked, while it is open. */
  approvals: ApprovalView[];
  model: string;
  demo: boolean;
  prompt_tokens: number | null;
  answer_tokens: number | null;
  num_ctx: number | null;
  left_out: number;
  first_token_s: number | null;
  seconds: number | null;
}

export interface SessionDetail {
  session: SessionSummary;
  turns: TurnRecord[];
}

export interface Backend {
  kind: string;
  url: string;
  demo: boolean;
  state: string;
  message: string;
}

export interface ModelInfo {
  name: string;
  /** 0 where the backend does not say. */
  size_bytes: number;
}

export interface RoleInfo {
  role: string;
  model: string;
  available: boolean;
  hint: string;
}

export interface Models {
  backend: Backend;
  models: ModelInfo[];
  roles: RoleInfo[];
}

export interface ParticipantInfo {
  name: string;
  kind: string;
  sender_id: string;
  state: string;
  pid: number | null;
  uptime_s: number | null;
  restarts: number;
  rss_bytes: number | null;
  /** In words, where something is wrong. */
  reason: string;
  tool: string | null;
}

export interface Setting {
  section: string;
  key: string;
  value: unknown;
  default: unknown;
  source: string;
  description: string;
  type: string;
  choices: unknown[] | null;
  minimum: number | null;
  maximum: number | null;
}

/** A file that cannot be used as it is: what it holds is not in force. */
export interface SettingProblem {
  section: string;
  message: string;
}

export interface Settings {
  settings: Setting[];
  problems: SettingProblem[];
}

export interface Health {
  status: string;
  version: string;
  participants: Record<string, string>;
  /** The essential ones that are not ready. */
  missing: string[];
}
