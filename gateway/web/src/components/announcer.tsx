// What does a screen reader hear? That an answer is on its way, and then the answer: once, not word by word.

import type { Turn } from "../state/model";
import { isSettled } from "../state/selectors";
import { endWords } from "../state/words";

export function Announcer({ turns }: { turns: readonly Turn[] }) {
  const last = turns.findLast((turn) => turn.phase !== "queued");
  return (
    <div className="visually-hidden" aria-live="polite" aria-atomic="true">
      {last !== undefined && heard(last)}
    </div>
  );
}

export function heard(turn: Turn): string {
  if (!isSettled(turn)) {
    return "Answering.";
  }
  return [turn.answer, endWords(turn)?.text ?? ""].filter(Boolean).join(" ");
}
