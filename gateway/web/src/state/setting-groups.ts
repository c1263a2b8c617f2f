// In which order do settings stand, and which of them does nobody need at first?

import type { SettingView } from "../wire/rest";
import { humanised } from "./words";

export interface Group {
  readonly name: string;
  readonly title: string;
  readonly settings: readonly SettingView[];
}

export interface Groups {
  readonly first: readonly Group[];
  readonly tools: readonly Group[];
  readonly advanced: readonly Group[];
}

const FIRST = ["models", "generator", "model_server"];
/** A program's name on the bus: a change breaks what refers to it, and helps nobody. */
const HIDDEN = new Set(["id"]);
/** What makes a tool the tool that it is, as against what its user may want otherwise. */
const OF_A_TOOL = new Set([
  ...["tool", "description", "parameters", "policies", "commands"],
  ...["critique_rubric_name", "critique_priority"],
]);

export function groupsOf(settings: readonly SettingView[], wanted: string): Groups {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = settings.filter((one) => !HIDDEN.has(one.key) && holds(one, words));
  const tools = new Set(settings.filter(({ key }) => key === "tool").map(({ section }) => section));
  const ofTool = (one: SettingView) => tools.has(one.section) && !OF_A_TOOL.has(one.key);
  const first = FIRST.flatMap((name) => grouped(shown.filter(({ section }) => section === name)));
  return {
    first,
    tools: grouped(shown.filter(ofTool)),
    advanced: grouped(shown.filter((one) => !FIRST.includes(one.section) && !ofTool(one))),
  };
}

function holds({ section, key, description }: SettingView, words: readonly string[]): boolean {
  const text = `${section} ${humanised(section)} ${key} ${description}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function grouped(settings: readonly SettingView[]): Group[] {
  const groups = new Map<string, SettingView[]>();
  for (const setting of settings) {
    groups.set(setting.section, [...(groups.get(setting.section) ?? []), setting]);
  }
  return [...groups].map(([name, all]) => ({ name, title: humanised(name), settings: all }));
}
