// Where did a tool's result come from?

import { ExternalLink } from "lucide-react";

import { hostOf, webHref } from "./markdown/links";

export function Sources({ sources }: { sources: readonly Record<string, unknown>[] }) {
  if (sources.length === 0) {
    return null;
  }
  return (
    <ul className="sources" aria-label="Sources">
      {sources.map((source, index) => (
        <li key={index}>
          <Source title={textOf(source["title"])} url={textOf(source["url"])} />
        </li>
      ))}
    </ul>
  );
}

function Source({ title, url }: { title: string; url: string }) {
  const href = webHref(url);
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

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
