// How does a model's markdown become elements? Without raw HTML, without addresses that act, and without
// anything that loads from elsewhere.

import type { Element, Root } from "hast";
import { memo } from "react";
import ReactMarkdown, { type Components, type Options } from "react-markdown";
import rehypeSanitize, { defaultSchema, type Options as Schema } from "rehype-sanitize";
import remarkGfm from "remark-gfm";

import { splitBlocks } from "./blocks";
import { CodeBlock } from "./code-block";
import { hostOf, safeHref } from "./links";
import { hideMaths, mathsAsWritten } from "./maths";
import { mend } from "./mend";

// Pictures become links below, so that their addresses pass here; nothing else that could load does.
const schema: Schema = {
  ...defaultSchema,
  tagNames: (defaultSchema.tagNames ?? []).filter(
    (name) => !["picture", "source", "details", "summary"].includes(name),
  ),
};

const components: Components = {
  a: ({ href, title, children }) => (
    <Link href={href} title={title}>
      {children}
    </Link>
  ),
  img: ({ src, alt }) => <RemoteImage src={src} alt={alt} />,
  table: ({ children }) => (
    // A wide table scrolls, so that the keyboard has to reach it.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="table-scroll" tabIndex={0} role="region" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
  pre: ({ node }) => <CodeBlock node={node} />,
};

const options: Options = {
  remarkPlugins: [[remarkGfm, { singleTilde: false }]],
  rehypePlugins: [rawAsText, [rehypeSanitize, schema], mathsAsWritten],
  // `safeHref` decides, below, where the element is made.
  urlTransform: (url) => url,
  components,
};

/** HTML that a model wrote is shown as it was written, and does nothing. */
function rawAsText() {
  return (tree: Root) => showRaw(tree);
}

function showRaw(parent: Root | Element): void {
  parent.children = parent.children.map((node) =>
    node.type === "raw" ? { type: "text", value: node.value } : node,
  );
  for (const node of parent.children) {
    if (node.type === "element") {
      showRaw(node);
    }
  }
}

export function Markdown({ text, live = false }: { text: string; live?: boolean }) {
  const blocks = splitBlocks(hideMaths(text, live));
  return blocks.map((block, index) => (
    <Block key={index} text={block} live={live && index === blocks.length - 1} />
  ));
}

const Block = memo(function Block({ text, live }: { text: string; live: boolean }) {
  return (
    <div className="block" data-live={live}>
      <ReactMarkdown {...options}>{live ? mend(text) : text}</ReactMarkdown>
    </div>
  );
});

interface LinkProps {
  href: string | undefined;
  title?: string | undefined;
  children: React.ReactNode;
}

function Link({ href, title, children }: LinkProps) {
  const safe = safeHref(href);
  if (safe === null) {
    return <span className="inert-link">{children}</span>;
  }
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer" title={title ?? safe}>
      {children}
    </a>
  );
}

/** Loading it would tell its server that it was read, and whatever its address holds. */
function RemoteImage({ src, alt }: { src: unknown; alt: string | undefined }) {
  const safe = safeHref(typeof src === "string" ? src : undefined);
  const name = alt === undefined || alt === "" ? "Image" : `Image: ${alt}`;
  return safe === null ? (
    <span className="inert-link">{name}</span>
  ) : (
    <Link href={safe}>
      {name} ({hostOf(safe)})
    </Link>
  );
}
