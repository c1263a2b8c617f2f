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
