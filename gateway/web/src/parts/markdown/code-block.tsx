// How is a block of code shown? With its language, a copy button, and colours once they are loaded.

import type { Element, ElementContent } from "hast";
import { type ReactNode, useEffect, useState } from "react";

import { CopyButton } from "../../components/copy-button";

/** Beyond this, colours cost more than they give. */
const LONGEST_COLOURED = 40_000;

export function CodeBlock({ node }: { node: Element | undefined }) {
  const code = node?.children.find(isElement);
  const text = textOf(code?.children ?? node?.children ?? []);
  const language = languageOf(code);
  return (
    <figure className="code-block">
      <figcaption>
        <span>{language || "text"}</span>
        <CopyButton text={text} label="Copy code" />
      </figcaption>
      {/* A wide block scrolls, so that the keyboard has to reach it. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} dir="ltr">
        <code>
          <Coloured text={text} language={language} />
        </code>
      </pre>
    </figure>
  );
}

function Coloured({ text, language }: { text: string; language: string }): ReactNode {
  const highlight = useHighlighter(language !== "" && text.length <= LONGEST_COLOURED);
  return highlight === null ? text : highlight(text, language);
}

type Highlight = (text: string, language: string) => ReactNode;

// Fetched with the first block of code, kept for all others.
let loaded: Highlight | null = null;

function useHighlighter(wanted: boolean): Highlight | null {
  const [highlight, setHighlight] = useState<Highlight | null>(() => loaded);
  useEffect(() => {
    if (!wanted || highlight !== null) {
      return undefined;
    }
    let here = true;
    void import("./highlight").then((module) => {
      loaded = module.highlight;
      if (here) {
        setHighlight(() => module.highlight);
      }
    });
    return () => {
      here = false;
    };
  }, [wanted, highlight]);
  return wanted ? highlight : null;
}

function isElement(node: ElementContent): node is Element {
  return node.type === "element" && node.tagName === "code";
}

function textOf(nodes: readonly ElementContent[]): string {
  return nodes
    .map((node) => {
      if (node.type === "text") {
        return node.value;
      }
      return node.type === "element" ? textOf(node.children) : "";
    })
    .join("")
    .replace(/\n$/, "");
}

const PREFIX = "language-";

function languageOf(code: Element | undefined): string {
  const names = code?.properties.className;
  const name = Array.isArray(names) ? names.map(String).find((one) => one.startsWith(PREFIX)) : "";
  return name?.slice(PREFIX.length) ?? "";
}
