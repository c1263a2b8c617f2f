// Which values do drafts stand for, and at which setting does a refusal belong?

import type { SettingView } from "../wire/rest";
import type { Drafts } from "./setting-drafts";
import { asText, editorOf, fromText } from "./setting-values";

export type Words = Readonly<Record<string, string>>;
export type Changes = Readonly<Record<string, Record<string, unknown>>>;

export function idOf({ section, key }: Pick<SettingView, "section" | "key">): string {
  return `${section}.${key}`;
}

export function savedText(setting: SettingView): string {
  return asText(setting.value, editorOf(setting));
}

/** Section to key to value, and what is wrong with a text that stands for none, by the setting's id. */
export function changesOf(
  settings: readonly SettingView[],
  drafts: Drafts,
): { changes: Changes; wrong: Words } {
  const changes: Record<string, Record<string, unknown>> = {};
  const wrong: Record<string, string> = {};
  for (const setting of settings) {
    const text = drafts[idOf(setting)];
    if (text === undefined) {
      continue;
    }
    try {
      const value = fromText(text, editorOf(setting), setting);
      changes[setting.section] = { ...changes[setting.section], [setting.key]: value };
    } catch (error) {
      wrong[idOf(setting)] = (error as Error).message;
    }
  }
  return { changes, wrong };
}

/** A section's changes are refused together; the words name the key that is meant. */
export function refusedId(section: string, keys: readonly string[], message: string): string {
  const named = keys.find((key) => new RegExp(`\\b${key}\\b`).test(message));
  return `${section}.${named ?? keys[0] ?? ""}`;
}
