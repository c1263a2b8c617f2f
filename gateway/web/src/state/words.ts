// How are states, outcomes and reasons said to a user?

import type { Turn } from "./model";

const AGENT_STATES: Record<string, string> = {
  IDLE: "Getting ready",
  RECEIVING: "Reading",
  RECALLING: "Remembering",
  AWAITING_CONTEXT: "Remembering",
  CLAIMING: "Getting ready",
  GENERATING: "Thinking",
  DISPATCHING_TOOL: "Calling a tool",
  AWAITING_RESULT: "Waiting for the tool",
  AWAITING_APPROVAL: "Waiting for your approval",
  PUBLISHING: "Finishing",
  DONE: "Finishing",
};

/** `SOME_STATE` as "Some state". */
export function humanised(name: string): string {
  const words = name.replace(/[_.]+/g, " ").trim().toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What a turn without any text to show is doing. */
export function progressOf(turn: Turn): string {
  if (turn.stopping) {
    return "Stopping";
  }
  switch (turn.phase) {
    case "sending":
      return "Sending";
    case "queued":
      return turn.position > 1 ? `Queued, ${turn.position} before it` : "Queued, next in line";
    case "accepted":
      return "Getting ready";
    default:
      return AGENT_STATES[turn.agentState] ?? (humanised(turn.agentState) || "Thinking");
  }
}

/** As in bus/messages/tool.py, and `running`. */
export const OUTCOMES: Record<string, string> = {
  running: "running",
  ok: "done",
  unknown: "no such tool",
  disabled: "turned off",
  unavailable: "not available",
  invalid_arguments: "wrong arguments",
  denied: "denied",
  timeout: "took too long",
  crashed: "its process ended",
  cancelled: "stopped",
  failed: "failed",
};

export function outcomeWords(outcome: string): string {
  return OUTCOMES[outcome] ?? humanised(outcome).toLowerCase();
}

/** What to say below an answer that did not simply end; null where it did. */
export function endWords(turn: Turn): { tone: "error" | "muted"; text: string } | null {
  const reason = turn.ending?.reason ?? "";
  if (turn.phase === "failed") {
    const said = [reason, turn.error?.message, "This question could not be answered."];
    return { tone: "error", text: said.find(Boolean) ?? "" };
  }
  if (turn.phase === "cancelled") {
    return { tone: "muted", text: turn.ending === null ? "Not sent" : "Stopped" };
  }
  switch (turn.ending?.finishReason) {
    case "length":
      return { tone: "muted", text: reason || "The answer reached its length limit." };
    case "incomplete":
      return { tone: "error", text: reason || "The answer is incomplete." };
    case "stop":
    case undefined:
      return null;
    default:
      return reason === "" ? null : { tone: "muted", text: reason };
  }
}

export function seconds(value: number): string {
  if (value < 0.095) {
    return `${Math.max(1, Math.round(value * 1000))} ms`;
  }
  if (value < 10) {
    return `${value.toFixed(1)} s`;
  }
  return value < 60 ? `${Math.round(value)} s` : duration(value);
}

/** A long time in its two largest units. */
export function duration(value: number): string {
  const units: [number, string][] = [
    [86_400, "d"],
    [3600, "h"],
    [60, "min"],
    [1, "s"],
  ];
  const first = units.findIndex(([size]) => value >= size);
  if (first < 0) {
    return "0 s";
  }
  let left = value;
  const words = units.slice(first, first + 2).map(([size, name]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return count === 0 ? "" : `${count} ${name}`;
  });
  return words.filter(Boolean).join(" ");
}

export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let size = value;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${size < 10 && unit > 0 ? size.toFixed(1) : Math.round(size)} ${units[unit] ?? ""}`;
}
