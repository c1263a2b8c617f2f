// Which memories went into this answer? Looked up when asked for: a deleted one is gone from here too.

import { useEffect, useState } from "react";
import { Link } from "wouter";

import { messageOf, rest } from "../connection/rest";
import { kindWords, placeOf } from "../state/memories";
import type { Ending } from "../state/model";
import type { MemoryView } from "../wire/rest";
import { TurnDetail } from "./turn-detail";

export function Remembered({ ending }: { ending: Ending }) {
  const { memories, notRecalled } = ending;
  const [known, setKnown] = useState<readonly MemoryView[] | null>(null);
  const [error, setError] = useState("");
  useEffect(() => {
    let current = true;
    if (memories.length > 0) {
      rest.memoryItems(memories.map(({ memory_id }) => memory_id)).then(
        (found) => current && setKnown(found),
        (reason: unknown) => current && setError(messageOf(reason)),
      );
    }
    return () => {
      current = false;
    };
  }, [memories]);
  return (
    <TurnDetail shown={known}>
      {notRecalled !== "" && <p>{notRecalled}</p>}
      {error !== "" && <p role="alert">{error}</p>}
      {known !== null && (
        <ul>
          {memories.map(({ memory_id, score }) => (
            <Line
              key={memory_id}
              memory={known.find((one) => one.memory_id === memory_id)}
              score={score}
            />
          ))}
        </ul>
      )}
      <Link href="/memory">See and change what is remembered</Link>
    </TurnDetail>
  );
}

function Line({ memory, score }: { memory: MemoryView | undefined; score: number }) {
  if (memory === undefined) {
    return <li className="muted">One that has been forgotten since.</li>;
  }
  const place = placeOf(memory);
  return (
    <li>
      <span className="tag">{kindWords(memory.kind)}</span>
      <span dir="auto">{memory.text}</span>
      {score > 0 && <span className="muted">fits {score.toFixed(2)}</span>}
      {place !== null && <Link href={place}>its chat</Link>}
    </li>
  );
}
