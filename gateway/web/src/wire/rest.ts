// The bodies of the gateway's REST interface.

import type { ToolCallView } from "./generated";

export interface SessionSummary {
  session_id: string;
  title: string;
  created_at: string;
  updated_at: string;
  turns: number;
  running: boolean;
}

export type TurnStatus = "received" | "claimed" | "answered" | "failed" | "cancelled";

export interface TurnRecord {
  query_id: string;
  query: string;
  created_at: string;
  status: TurnStatus;
  finish_reason: string | null;
  reason: string | null;
  answer: string | null;
  thinking: string | null;
  tool_calls: ToolCallView[] | null;
  model: string | null;
  demo: boolean | null;
  prompt_tokens: number | null;
  answer_tokens: number | null;
  num_ctx: number | null;
  left_out: number | null;
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
  size_bytes: number | null;
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
}

export interface Health {
  status: string;
  version: string;
  participants: Record<string, string>;
}
