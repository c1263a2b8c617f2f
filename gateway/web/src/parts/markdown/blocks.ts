// Which pieces of a markdown text can be rendered on their own? While an answer streams, only its last
// piece changes, so that all others are parsed once.

/** A fence, at the line's start or inside list items and quotes. */
const FENCE = /^((?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*)(`{3,}|~{3,})/;
const DEFINITION = /^ {0,3}\[[^\]]+\]:/m;
/** A line that may go on with the block before it, over a blank line: list items, their content, quotes. */
const CONTINUES = /^(?:\s|[-+*](?:\s|$)|\d{1,9}[.)](?:\s|$)|>)/;
/** An HTML block of the kinds that a blank line does not end. */
const OPEN_HTML = /^ {0,3}<(?:!--|\?|![A-Za-z]|!\[CDATA\[|script|pre|style|textarea)/im;

interface Fence {
  readonly mark: string;
  /** Inside a list item or a quote, whose end is its end too. */
  readonly contained: boolean;
}

/**
 * Cuts only at a blank line outside of code, before a line that surely begins something new. The pieces
 * joined are the text again. Definitions reach over all of the text, so that a text with one stays whole.
 */
export function splitBlocks(text: string): string[] {
  if (DEFINITION.test(text) || OPEN_HTML.test(text)) {
    return [text];
  }
  const blocks: string[] = [];
  let current = "";
  let fence: Fence | null = null;
  let afterBlank = false;
  for (const line of text.split(/(?<=\n)/)) {
    const begins = !isBlank(line) && !CONTINUES.test(line);
    if (begins && fence?.contained === true) {
      fence = null;
    }
    if (begins && afterBlank && fence === null) {
      blocks.push(current);
      current = "";
    }
    fence = fenceAfter(line, fence);
    afterBlank = isBlank(line);
    current += line;
  }
  return current === "" ? blocks : [...blocks, current];
}

function isBlank(line: string): boolean {
  return line.trim() === "";
}

/** The fence that is open after this line. */
function fenceAfter(line: string, open: Fence | null): Fence | null {
  const [whole, prefix, mark] = FENCE.exec(line) ?? [];
  if (whole === undefined || prefix === undefined || mark === undefined) {
    return open;
  }
  const rest = line.slice(whole.length);
  if (open !== null) {
    return mark.startsWith(open.mark) && isBlank(rest) ? null : open;
  }
  const inline = mark.startsWith("`") && rest.includes("`");
  return inline ? null : { mark, contained: prefix !== "" };
}
