// What of a text is a formula? Its source goes around the markdown parser whole, which would take away
// backslashes, read `_` and `*` as emphasis, and cut tables at `|`.

import type { ElementContent, Element, Root } from "hast";

const LONGEST = 4000;

/** Code and addresses: what looks like a formula there is none. */
const NOT_MATHS = [
  // a fence, up to its end or the text's
  /^[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)?(?<fence>`{3,}|~{3,})[^\n]*(?:\n[^]*?^[ \t>]*\k<fence>[`~]*[ \t]*$|[^]*)/,
  /(?<!`)(?<ticks>`+)(?!`)[^]*?(?<!`)\k<ticks>(?!`)/,
  /\]\([^()\s]*\)/,
  /https?:\/\/[^\s<>]+/,
];
const MATHS = [
  // An escaped link is written the same way.
  String.raw`(?<!\\)\\\[[^]{1,${LONGEST}}?\\\](?!\()`,
  String.raw`(?<!\\)\\\((?:(?!\n\s*\n)[^]){1,${LONGEST}}?\\\)`,
  String.raw`(?<![\\$])\$\$(?!\$)[^]{1,${LONGEST}}?\$\$`,
  // As in `$x$`, not as in `$10 and $3.99`.
  String.raw`(?<![\\$\w])\$(?=[^\s$])(?:(?!\n\s*\n)[^$]){1,400}?(?<=[^\s\\])\$(?![\d$])`,
];
/** While a text still comes, its last formula may have no end yet; a price looks like the start of one. */
const OPEN_MATHS = String.raw`(?<!\\)\\[[(][^]{0,${LONGEST}}$(?![^])|(?<![\\$])\$\$[^$]{1,${LONGEST}}$(?![^])`;

const skipped = NOT_MATHS.map((pattern) => pattern.source).join("|");
const whole = new RegExp(`${skipped}|(?<maths>${MATHS.join("|")})`, "gm");
const growing = new RegExp(`${skipped}|(?<maths>${[...MATHS, OPEN_MATHS].join("|")})`, "gm");

// Letters of the private use area, which markdown takes for a word. Each unit of the source becomes two.
const START = "\uE000";
const END = "\uE001";
const BASE = 0xe100;
const HIDDEN = /\uE000((?:[\uE100-\uE1FF]{2})+)\uE001/g;

/** The text with each formula as a word that hides it. */
export function hideMaths(text: string, live = false): string {
  if (!/[\\$]/.test(text)) {
    return text;
  }
  return text.replace(live ? growing : whole, (found: string, ...rest: unknown[]) => {
    const { maths } = rest.at(-1) as { maths?: string };
    return maths === undefined || isPrice(maths) ? found : hidden(maths);
  });
}

/** `$5 of the US$` is no formula; what begins with a digit has to look like one. */
function isPrice(maths: string): boolean {
  return /^\$\d/.test(maths) && !/[\\^_={}]/.test(maths);
}

function hidden(source: string): string {
  const units = Array.from({ length: source.length }, (_, index) => source.charCodeAt(index));
  const letters = units.map((unit) => String.fromCharCode(BASE + (unit >> 8), BASE + (unit & 255)));
  return START + letters.join("") + END;
}

function shown(letters: string): string {
  let source = "";
  for (let index = 0; index < letters.length; index += 2) {
    const high = letters.charCodeAt(index) - BASE;
    source += String.fromCharCode(high * 256 + letters.charCodeAt(index + 1) - BASE);
  }
  return source;
}

/** The text as it was. */
export function showMaths(text: string): string {
  return text.replace(HIDDEN, (_, letters: string) => shown(letters));
}

/** A step for rehype: formulas stand as they were written, in an element of their own outside of code. */
export function mathsAsWritten() {
  return (tree: Root) => restore(tree, false);
}

function restore(parent: Root | Element, code: boolean): void {
  parent.children = parent.children.flatMap((node) =>
    node.type === "text" && node.value.includes(START) ? pieces(node.value, code) : [node],
  );
  for (const node of parent.children) {
    if (node.type === "element") {
      restoreWords(node);
      restore(node, code || node.tagName === "code");
    }
  }
}

function restoreWords(node: Element): void {
  for (const [name, value] of Object.entries(node.properties)) {
    if (typeof value === "string") {
      node.properties[name] = showMaths(value);
    }
  }
}

function pieces(text: string, code: boolean): ElementContent[] {
  if (code) {
    return [{ type: "text", value: showMaths(text) }];
  }
  return text
    .split(HIDDEN)
    .map((piece, index) =>
      index % 2 === 0 ? { type: "text", value: piece } : formula(shown(piece)),
    );
}

function formula(source: string): Element {
  const display = source.startsWith("$$") || source.startsWith("\\[");
  return {
    type: "element",
    tagName: "span",
    properties: { className: display ? ["maths", "display"] : ["maths"], dir: "ltr" },
    children: [{ type: "text", value: source }],
  };
}
