// How are memories, and the answers that they went into, said to a user?

import type { GradeView, MemoryView } from "../wire/rest";
import type { Ending } from "./model";

export const KINDS: readonly { kind: string; name: string; about: string }[] = [
  { kind: "fact", name: "Facts", about: "Always known. Said by you, or noted by the assistant." },
  { kind: "engram", name: "From chats", about: "What a question and its answer were about." },
  { kind: "insight", name: "Insights", about: "What several chats have in common." },
];

const ONE: Record<string, string> = { fact: "Fact", engram: "From a chat", insight: "Insight" };

export function kindWords(kind: string): string {
  return ONE[kind] ?? kind;
}

/** What stands below an answer about its grounds, and what that means. */
export const GROUNDS: Record<string, { text: string; about: string }> = {
  web: { text: "web sources", about: "Sources from outside this machine went into it" },
  grounded: { text: "grounded", about: "Your memories, documents or tools went into it" },
  knowledge: { text: "model knowledge", about: "Nothing but what the model itself knows" },
};

/** How much was remembered for an answer; empty where there is nothing to say. */
export function recallWords({ memories, notRecalled }: Ending): string {
  if (memories.length > 0) {
    return memories.length === 1 ? "1 memory" : `${memories.length} memories`;
  }
  return notRecalled === "" ? "" : "nothing recalled";
}

export function gradeWords(grade: GradeView): string {
  return grade.score === null ? "not graded" : `graded ${grade.score}/5`;
}

/** Where a memory comes from; null where that is no single turn of one's own. */
export function placeOf({
  session_id: session,
  query_id: query,
}: Pick<MemoryView, "session_id" | "query_id">): string | null {
  if (session === "") {
    return null;
  }
  const anchor = query === "" ? "" : `#${encodeURIComponent(query)}`;
  return `/c/${encodeURIComponent(session)}${anchor}`;
}

/** A part of a file of lines, and the number of its first line. */
export interface Part {
  readonly lines: string;
  readonly first: number;
}

/** Whole lines, as many as fit into `most` bytes; a line that is longer is a part of its own. */
export function inParts(text: string, most: number): readonly Part[] {
  const encoder = new TextEncoder();
  const parts: Part[] = [];
  let first = 1;
  let lines: string[] = [];
  let size = 0;
  for (const line of text.split("\n")) {
    const length = encoder.encode(line).length + 1;
    if (lines.length > 0 && size + length > most) {
      parts.push({ lines: lines.join("\n"), first });
      first += lines.length;
      lines = [];
      size = 0;
    }
    lines.push(line);
    size += length;
  }
  return [...parts, { lines: lines.join("\n"), first }];
}
