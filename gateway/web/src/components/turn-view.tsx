// How is one turn shown? The question, then the answer's parts, then how it ended.

import { CircleAlert, RotateCcw } from "lucide-react";
import { memo } from "react";

import { viewOf } from "../parts";
import type { Turn } from "../state/model";
import { isThinking, partsOf } from "../state/parts";
import { canRetry, isSettled } from "../state/selectors";
import { endWords, progressOf } from "../state/words";
import { useClient } from "./context";
import { Question } from "./question";
import { TurnFooter } from "./turn-footer";

interface TurnViewProps {
  turn: Turn;
  /** A screen reader reads the latest answer once it is whole: while busy, its changes are kept back. */
  latest?: boolean;
  /** No turn of the chat runs, so that its branches can be changed. */
  free?: boolean;
}

export const TurnView = memo(function TurnView({
  turn,
  latest = false,
  free = true,
}: TurnViewProps) {
  const busy = !isSettled(turn);
  return (
    <article id={turnAnchor(turn.queryId)} className="turn" aria-busy={busy}>
      <Question turn={turn} free={free && !busy} />
      <div className="reply" aria-live={latest ? "polite" : undefined} aria-busy={busy}>
        <h2 className="visually-hidden">Answer</h2>
        {partsOf(turn).map((part) => {
          const View = viewOf(part.kind);
          return <View key={part.key} part={part} />;
        })}
        <Progress turn={turn} />
        <End turn={turn} />
        {!busy && <TurnFooter turn={turn} free={free} />}
      </div>
    </article>
  );
});

export function turnAnchor(queryId: string): string {
  return `turn-${queryId}`;
}

/** Whether a part shows by itself that it goes on. */
function isVisiblyBusy(turn: Turn): boolean {
  return (
    turn.answer !== "" ||
    isThinking(turn) ||
    turn.toolCalls.some((call) => call.outcome === "running")
  );
}

/** What happens while no part shows it, and why it waits. */
function Progress({ turn }: { turn: Turn }) {
  const said = turn.note !== "" || turn.stopping;
  if (isSettled(turn) || (isVisiblyBusy(turn) && !said)) {
    return null;
  }
  const waiting = turn.phase === "queued" || turn.phase === "sending";
  return (
    <div className="progress" data-waiting={waiting}>
      <span className="pulse" aria-hidden />
      <span className="shimmer">{progressOf(turn)}…</span>
      {turn.note !== "" && <span className="muted">{turn.note}</span>}
      {turn.phase === "queued" && <Withdraw turn={turn} />}
    </div>
  );
}

function Withdraw({ turn }: { turn: Turn }) {
  const client = useClient();
  return (
    <button type="button" className="link-button" onClick={() => client.stopTurn(turn)}>
      Cancel
    </button>
  );
}

function End({ turn }: { turn: Turn }) {
  const words = endWords(turn);
  if (words === null) {
    return null;
  }
  return (
    <div
      className="ending"
      data-tone={words.tone}
      role={words.tone === "error" ? "alert" : undefined}
    >
      {words.tone === "error" && <CircleAlert size={16} aria-hidden />}
      <span dir="auto">{words.text}</span>
      {canRetry(turn) && <Retry turn={turn} />}
    </div>
  );
}

function Retry({ turn }: { turn: Turn }) {
  const client = useClient();
  return (
    <button type="button" className="button small" onClick={() => client.retry(turn)}>
      <RotateCcw size={14} aria-hidden />
      Retry
    </button>
  );
}
