// What is shown of a part that this UI does not know?

import { Json } from "./json";

export function UnknownPart({ part }: { part: { kind: string; key: string } }) {
  return (
    <details className="unknown-part">
      <summary>{part.kind}</summary>
      <Json value={part} />
    </details>
  );
}
