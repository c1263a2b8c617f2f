// What is remembered, page by page, or what fits some words?

import { useCallback, useEffect, useRef, useState } from "react";

import { messageOf, rest } from "../connection/rest";
import type { AppState } from "../state/model";
import type { MemoryView } from "../wire/rest";
import { useAppState } from "./context";

const SETTLE_MS = 250;

interface Shown {
  readonly memories: readonly MemoryView[];
  readonly total: number;
  /** Names the next page; empty for none. */
  readonly next: string;
}

export interface Memories {
  /** Null until the first answer. */
  readonly shown: Shown | null;
  readonly error: string;
  readonly refresh: () => void;
  readonly more: () => void;
}

const factChangesOf = (state: AppState) => state.factChanges;

/** Those of a kind (all where it is empty); words are searched by their meaning, the best first. */
export function useMemories(kind: string, words: string): Memories {
  const [shown, setShown] = useState<Shown | null>(null);
  const [error, setError] = useState("");
  const [round, setRound] = useState(0);
  const newest = useRef(0);
  const factChanges = useAppState(factChangesOf);
  const wanted = words.trim();

  const look = useCallback(async (ask: () => Promise<Shown>) => {
    newest.current += 1;
    const mine = newest.current;
    try {
      const answer = await ask();
      if (mine === newest.current) {
        setShown(answer);
        setError("");
      }
    } catch (reason) {
      if (mine === newest.current) {
        setError(messageOf(reason));
      }
    }
  }, []);

  useEffect(() => {
    const ask = () => (wanted === "" ? rest.memories(kind, "") : found(kind, wanted));
    const timer = setTimeout(() => void look(ask), wanted === "" ? 0 : SETTLE_MS);
    return () => clearTimeout(timer);
  }, [kind, wanted, round, factChanges, look]);

  const refresh = useCallback(() => setRound((now) => now + 1), []);
  const more = () => {
    if (shown !== null) {
      void look(async () => {
        const page = await rest.memories(kind, "", shown.next);
        return { ...page, memories: [...shown.memories, ...page.memories] };
      });
    }
  };
  return { shown, error, refresh, more };
}

async function found(kind: string, words: string): Promise<Shown> {
  const all = await rest.searchMemory(words);
  const memories = kind === "" ? all : all.filter((memory) => memory.kind === kind);
  return { memories, total: memories.length, next: "" };
}
