// How are arguments and results shown, whatever they hold? As text, never as markup.

import { useState } from "react";

const SHOWN_AT_FIRST = 4000;

export function Json({ value }: { value: unknown }) {
  return <Plain text={JSON.stringify(value, null, 2)} />;
}

/** JSON is indented; a very long text is cut until asked for. */
export function Plain({ text }: { text: string }) {
  const [whole, setWhole] = useState(false);
  const pretty = indented(text);
  const cut = !whole && pretty.length > SHOWN_AT_FIRST;
  return (
    <>
      <pre className="plain" dir="auto">
        {cut ? pretty.slice(0, SHOWN_AT_FIRST) + "…" : pretty}
      </pre>
      {cut && (
        <button type="button" className="link-button" onClick={() => setWhole(true)}>
          Show all {pretty.length.toLocaleString()} characters
        </button>
      )}
    </>
  );
}

// What is invisible, or turns the order of reading round, could hide what is approved.
const DECEPTIVE =
  /[\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\u{e0000}-\u{e007f}]/gu;

/** All of it, with nothing that is not seen. */
export function ExactJson({ value }: { value: unknown }) {
  const text = JSON.stringify(value, null, 2).replace(DECEPTIVE, escaped);
  return (
    // It scrolls, so that the keyboard has to reach it.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre className="plain" dir="ltr" tabIndex={0}>
      {text}
    </pre>
  );
}

function escaped(letter: string): string {
  return letter
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}

function indented(text: string): string {
  if (!/^\s*[[{]/.test(text)) {
    return text;
  }
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
