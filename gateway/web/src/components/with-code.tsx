// How are commands shown that stand in a text? As code, and those for a terminal with a button that copies them.

import { CopyButton } from "./copy-button";

/** In backticks, or a command that a message names without them. */
const CODE = /`([^`]+)`|((?:ollama (?:pull|serve)|local2 [a-z]+)(?: [\w.:/-]*\w)?)/;
const FOR_A_TERMINAL = /^(?:ollama |local2 |\S*scripts\/)/;

export function WithCode({ text }: { text: string }) {
  return piecesOf(text).map(({ code, words }, index) =>
    code ? <Code key={index} text={words} /> : words,
  );
}

function Code({ text }: { text: string }) {
  if (!FOR_A_TERMINAL.test(text)) {
    return <code>{text}</code>;
  }
  return (
    <span className="command">
      <code>{text}</code>
      <CopyButton text={text} label={`Copy ${text}`} />
    </span>
  );
}

export function piecesOf(text: string): { code: boolean; words: string }[] {
  const pieces: { code: boolean; words: string }[] = [];
  let rest = text;
  for (let found = CODE.exec(rest); found !== null; found = CODE.exec(rest)) {
    pieces.push({ code: false, words: rest.slice(0, found.index) });
    pieces.push({ code: true, words: found[1] ?? found[2] ?? "" });
    rest = rest.slice(found.index + found[0].length);
  }
  return [...pieces, { code: false, words: rest }].filter(({ words }) => words !== "");
}
