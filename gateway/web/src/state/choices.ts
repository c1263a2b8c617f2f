// Which model did the user pick for a chat? Kept per session, over reloads; empty: whatever is the default.

import type { Models } from "../wire/rest";

const PREFIX = "local2.model.";

function key(sessionId: string | null): string {
  return PREFIX + (sessionId ?? "new");
}

export function readModel(sessionId: string | null): string {
  try {
    return localStorage.getItem(key(sessionId)) ?? "";
  } catch {
    return "";
  }
}

/** Storage may be off or full; the default model answers then. */
export function writeModel(sessionId: string | null, model: string): void {
  try {
    if (model === "") {
      localStorage.removeItem(key(sessionId));
    } else {
      localStorage.setItem(key(sessionId), model);
    }
  } catch {
    return;
  }
}

/** The chat that did not exist yet does now: what was picked for it is its own. */
export function adoptModel(sessionId: string): void {
  writeModel(sessionId, readModel(null));
  writeModel(null, "");
}

export interface ModelChoice {
  readonly value: string;
  readonly label: string;
  readonly available: boolean;
}

/** Roles that answer questions; the others (pictures, embedding) are not picked by hand. */
const ROLES: Readonly<Record<string, string>> = { default: "Default", quality: "Quality" };

export function choicesOf(models: Models | null): {
  roles: readonly ModelChoice[];
  installed: readonly ModelChoice[];
} {
  const roles = (models?.roles ?? [])
    .filter(({ role }) => role in ROLES)
    .map(({ role, model, available }) => ({
      value: role === "default" ? "" : role,
      label: model === "" ? (ROLES[role] ?? role) : `${ROLES[role] ?? role}: ${model}`,
      available: available || role === "default",
    }));
  const installed = (models?.models ?? [])
    .filter(({ name }) => !name.includes("embed"))
    .map(({ name }) => ({ value: name, label: name, available: true }));
  return { roles, installed };
}

/** What was picked, where it still is there. */
export function validModel(picked: string, models: Models | null): string {
  const { roles, installed } = choicesOf(models);
  return [...roles, ...installed].some(({ value, available }) => available && value === picked)
    ? picked
    : "";
}
