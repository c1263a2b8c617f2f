// How does a piece of markdown look that is still being written? As it will once its marks are closed, so
// that no bare `**` flickers by.

const FENCE = /^ {0,3}(?:```|~~~)/m;
const CODE_SPAN = /(`+)[^`](?:.*?[^`])?\1(?!`)/gs;
/** The end of a link or image whose address has not come whole: its text is all there is to show. */
const OPEN_LINK = /(?<!\\)!?\[([^\][]*)(?:\]\([^()\s]*)?$/;
const MARKS = ["**", "~~", "__"] as const;

/** Closes what is open in the last paragraph; code is left alone. */
export function mend(text: string): string {
  if (FENCE.test(text)) {
    return text;
  }
  const start = text.lastIndexOf("\n\n") + 1;
  return text.slice(0, start) + mendParagraph(text.slice(start));
}

function mendParagraph(text: string): string {
  const prose = text.replace(CODE_SPAN, (span) => "x".repeat(span.length));
  const tick = prose.search(/`+[^`]*$/);
  if (tick >= 0) {
    return closeCode(text, tick);
  }
  return MARKS.reduce(
    (mended, mark) => closeMark(mended, prose, mark),
    withoutOpenLink(text, prose),
  );
}

function closeCode(text: string, tick: number): string {
  const ticks = /^`+/.exec(text.slice(tick))?.[0] ?? "";
  return tick + ticks.length === text.length ? text.slice(0, tick) : text + ticks;
}

function withoutOpenLink(text: string, prose: string): string {
  const found = OPEN_LINK.exec(prose);
  if (found === null) {
    return text;
  }
  const words = text.slice(found.index).replace(OPEN_LINK, "$1");
  return text.slice(0, found.index) + words;
}

function closeMark(text: string, prose: string, mark: string): string {
  if ((prose.split(mark).length - 1) % 2 === 0) {
    return text;
  }
  const bare = text.trimEnd();
  return bare.endsWith(mark) ? bare.slice(0, -mark.length) : bare + mark;
}
