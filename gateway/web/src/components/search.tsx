// Where was something said? A field over the list of chats; what it finds takes the list's place.

import { useEffect, useState } from "react";
import { useLocation } from "wouter";

import { messageOf, rest } from "../connection/rest";
import type { HitView } from "../wire/rest";
import { useClient } from "./context";

const SETTLE_MS = 200;

export interface Found {
  readonly words: string;
  readonly hits: readonly HitView[];
  readonly error: string;
}

/** What was found for these words; null while nothing is searched or nothing came yet. */
export function useSearch(words: string): Found | null {
  const [found, setFound] = useState<Found | null>(null);
  const wanted = words.trim();
  useEffect(() => {
    if (wanted === "") {
      return undefined;
    }
    let current = true;
    const show = (hits: readonly HitView[], error: string) => {
      if (current) {
        setFound({ words: wanted, hits, error });
      }
    };
    const timer = setTimeout(() => {
      rest.search(wanted).then(
        (hits) => show(hits, ""),
        (reason: unknown) => show([], messageOf(reason)),
      );
    }, SETTLE_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [wanted]);
  return wanted === "" ? null : found;
}

export function SearchHits({ found, onChosen }: { found: Found; onChosen: () => void }) {
  const { hits, error } = found;
  return (
    <>
      <p className="session-none" role="status">
        {error || hitsWords(hits.length)}
      </p>
      <ul className="session-list">
        {hits.map((hit) => (
          <li key={hit.query_id} className="session-item">
            <Hit hit={hit} onChosen={onChosen} />
          </li>
        ))}
      </ul>
    </>
  );
}

function hitsWords(count: number): string {
  if (count === 0) {
    return "Nothing found.";
  }
  return count === 1 ? "Found once." : `Found ${count} times.`;
}

function Hit({ hit, onChosen }: { hit: HitView; onChosen: () => void }) {
  const client = useClient();
  const [, navigate] = useLocation();
  const open = async () => {
    try {
      // The turn may be on a branch that is not shown.
      await client.showBranch(hit.session_id, hit.query_id);
      navigate(`/c/${encodeURIComponent(hit.session_id)}#${encodeURIComponent(hit.query_id)}`);
      onChosen();
    } catch (error) {
      client.notice(`Not opened: ${messageOf(error)}`);
    }
  };
  return (
    <button type="button" className="session-link hit" onClick={() => void open()}>
      <span className="session-title" dir="auto">
        {hit.title || "New chat"}
      </span>
      <span className="hit-snippet" dir="auto">
        {piecesOf(hit).map(({ text, marked }, index) =>
          marked ? <mark key={index}>{text}</mark> : text,
        )}
      </span>
    </button>
  );
}

/** The places are counted in characters, which JavaScript's strings are not. */
export function piecesOf({
  snippet,
  marks,
}: Pick<HitView, "snippet" | "marks">): { text: string; marked: boolean }[] {
  const characters = Array.from(snippet);
  const pieces: { text: string; marked: boolean }[] = [];
  let at = 0;
  const take = (end: number, marked: boolean) => {
    const text = characters.slice(at, end).join("");
    if (text !== "") {
      pieces.push({ text, marked });
    }
    at = Math.max(at, end);
  };
  for (const { start, end } of marks) {
    take(start, false);
    take(end, true);
  }
  take(characters.length, false);
  return pieces;
}
