// Where did a tool's result come from?

import { Brain, ExternalLink } from "lucide-react";
import { Link } from "wouter";

import { placeOf } from "../state/memories";
import { hostOf, webHref } from "./markdown/links";

export function Sources({ sources }: { sources: readonly Record<string, unknown>[] }) {
  if (sources.length === 0) {
    return null;
  }
  return (
    <ul className="sources" aria-label="Sources">
      {sources.map((source, index) => (
        <li key={index}>
          <Source source={source} />
        </li>
      ))}
    </ul>
  );
}

function Source({ source }: { source: Record<string, unknown> }) {
  const [title, url] = [textOf(source["title"]), textOf(source["url"])];
  const href = webHref(url);
  if (textOf(source["memory_id"]) !== "") {
    return <MemorySource title={title} source={source} />;
  }
  if (href === null) {
    return <span className="source">{title || url || "Untitled"}</span>;
  }
  return (
    <a className="source" href={href} target="_blank" rel="noopener noreferrer" title={href}>
      <ExternalLink size={12} aria-hidden />
      <span className="source-title">{title || href}</span>
      <span className="source-host">{hostOf(href)}</span>
    </a>
  );
}

/** A memory leads to the chat that it comes from, or to where all are. */
function MemorySource({ title, source }: { title: string; source: Record<string, unknown> }) {
  const session_id = textOf(source["session_id"]);
  const query_id = textOf(source["query_id"]);
  const place = placeOf({ session_id, query_id });
  return (
    <Link className="source" href={place ?? "/memory"}>
      <Brain size={12} aria-hidden />
      <span className="source-title" dir="auto">
        {title || "A memory"}
      </span>
    </Link>
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
