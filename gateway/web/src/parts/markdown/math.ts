// How does a formula survive markdown? As its source, to the letter: `\[ \]`, `\( \)` and `$ $` mean something
// else there, and what is between them would be taken for emphasis and links.

/** Anything but a blank line, which ends the paragraph and with it the formula. */
const INSIDE = String.raw`(?:(?!\n[ \t]*\n)[\s\S])*?`;
const FENCED = String.raw`^[ \t>]*(\`{3,}|~{3,})[\s\S]*?(?:^[ \t>]*\1[\`~]*[ \t]*$|(?![\s\S]))`;
const CODE_SPAN = "(`+)(?!`)[\\s\\S]*?(?<!`)\\2(?!`)";
const BRACKETS = String.raw`\\\[${INSIDE}\\\]|\\\(${INSIDE}\\\)`;
const DOLLARS = String.raw`(?<!\\)\$\$${INSIDE}\$\$`;
/** As with prices in mind: no blank inside the marks, no digit after. */
const DOLLAR = String.raw`(?<![\\$\w])\$(?![\s$])(?:[^$\n\\]|\\[^\n])*?(?<!\s)\$(?![\d$])`;
const OPEN = String.raw`(?:\\\[|\\\()(?:(?!\n[ \t]*\n)[\s\S])*(?![\s\S])`;

const CODE = `${FENCED}|${CODE_SPAN}`;
const MATH = `${BRACKETS}|${DOLLARS}|${DOLLAR}`;
const WHOLE = new RegExp(`${CODE}|(?<math>${MATH})`, "gm");
const STREAMED = new RegExp(`${CODE}|(?<math>${MATH}|${OPEN})`, "gm");
const PUNCTUATION = /[!-/:-@[-`{-~]/g;

/** The text with its formulas escaped; code is left alone. `live`: its last formula may still be open. */
export function keepMath(text: string, live: boolean): string {
  if (!/\$|\\[[(]/.test(text)) {
    return text;
  }
  return text.replace(live ? STREAMED : WHOLE, (found: string, ...rest: unknown[]) => {
    const { math } = rest.at(-1) as { math?: string };
    return math?.replace(PUNCTUATION, "\\$&") ?? found;
  });
}
