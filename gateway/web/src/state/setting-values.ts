// How does a setting's value become text to edit, and the text a value again? And what is said about it?

import { humanised } from "./words";
import type { SettingView } from "../wire/rest";

export type Editor = "switch" | "choice" | "number" | "text" | "long" | "json";

/** A longer text, or one of several lines, gets a field to match. */
const LONG = 60;

export function editorOf(setting: SettingView): Editor {
  const { type, value, default: initial } = setting;
  if (setting.choices !== null) {
    return "choice";
  }
  if (typeof value === "boolean" || type.startsWith("bool")) {
    return "switch";
  }
  if (typeof value === "number" || /^(int|float|number)/.test(type)) {
    return "number";
  }
  if (typeof value === "string" || (value === null && /^(str|path)/.test(type))) {
    return isLong(value) || isLong(initial) ? "long" : "text";
  }
  return "json";
}

function isLong(value: unknown): boolean {
  return typeof value === "string" && (value.length > LONG || value.includes("\n"));
}

export function asText(value: unknown, editor: Editor): string {
  if (editor === "json" || typeof value === "object") {
    return value === null ? "" : JSON.stringify(value, null, 2);
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The value that a text stands for; throws with words where it stands for none. */
export function fromText(text: string, editor: Editor, setting: SettingView): unknown {
  const free = editor === "text" || editor === "long";
  if (text.trim() === "" && !free) {
    return emptyOf(setting);
  }
  switch (editor) {
    case "switch":
      return text === "true";
    case "number":
      return within(numberOf(text), setting);
    case "choice":
      return setting.choices?.find((choice) => asText(choice, editor) === text);
    case "text":
    case "long":
      return text === "" && isNullable(setting) ? null : text;
    case "json":
      return jsonOf(text);
  }
}

function isNullable({ type }: SettingView): boolean {
  return type.endsWith("or null");
}

function emptyOf(setting: SettingView): null {
  if (!isNullable(setting)) {
    throw new Error("This cannot be empty.");
  }
  return null;
}

function numberOf(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value)) {
    throw new Error(`“${text}” is not a number.`);
  }
  return value;
}

function within(value: number, setting: SettingView): number {
  const { minimum, above, maximum, below } = setting;
  const outside =
    (minimum !== null && value < minimum) ||
    (above !== null && value <= above) ||
    (maximum !== null && value > maximum) ||
    (below !== null && value >= below);
  if (outside) {
    throw new Error(`This has to be ${lowerFirst(boundsWords(setting))}`);
  }
  if (setting.type.startsWith("int") && !Number.isInteger(value)) {
    throw new Error("This has to be a whole number.");
  }
  return value;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error("This is not valid JSON: check its quotes, commas and brackets.");
  }
}

// ---------------------------------------------------------------------------- words

const TITLES: Readonly<Record<string, string>> = {
  "policies.enabled": "Turned on",
  num_ctx: "Context size",
  answer_tokens: "Room for the answer",
  keep_alive: "Keep loaded for",
  keep_alive_s: "Keep loaded for",
  ollama_host: "Address of Ollama",
};

/** The key as a heading; the units that some keys end with are in their descriptions. */
export function titleOf({ key }: Pick<SettingView, "key">): string {
  return TITLES[key] ?? humanised(key.replace(/_(s|ms)$/, ""));
}

/** Which numbers are allowed; empty where all are. */
export function boundsWords({ minimum, above, maximum, below }: SettingView): string {
  const words: string[] = [];
  if (minimum !== null) {
    words.push(maximum === null ? `at least ${minimum}` : `from ${minimum} to ${maximum}`);
  }
  if (above !== null) {
    words.push(`more than ${above}`);
  }
  if (maximum !== null && minimum === null) {
    words.push(`at most ${maximum}`);
  }
  if (below !== null) {
    words.push(`less than ${below}`);
  }
  return words.length === 0 ? "" : `${upperFirst(words.join(", "))}.`;
}

/** What an empty field means, as its description says; shown where nothing is typed. */
export function emptyWords({ description }: SettingView): string {
  return /\bempty: ([^;.]+)/.exec(description)?.[1] ?? "";
}

/** A value as a reader would say it. */
export function valueWords(value: unknown, setting: SettingView): string {
  if (value === null || value === "") {
    return `empty${emptyWords(setting) === "" ? "" : `, ${emptyWords(setting)}`}`;
  }
  if (typeof value === "boolean") {
    return value ? "on" : "off";
  }
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > LONG ? `${text.slice(0, LONG).trimEnd()}…` : text;
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
