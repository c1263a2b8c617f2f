// What was said in this session, and what is being said?

import { ArrowDown } from "lucide-react";

import type { Session } from "../state/model";
import { isSettled } from "../state/selectors";
import { TurnView } from "./turn-view";
import type { Stick } from "./use-stick-to-bottom";

export function Conversation({ session, stick }: { session: Session; stick: Stick }) {
  const { scroller, content, atEnd, toEnd } = stick;
  const latest = session.turns.findLast((turn) => turn.phase !== "queued");
  return (
    <div className="conversation">
      {/* It scrolls, so that the keyboard has to reach it. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div ref={scroller} className="scroller" tabIndex={0} role="region" aria-label="Conversation">
        <div ref={content} className="column turns">
          {session.turns.map((turn) => (
            <TurnView key={turn.queryId} turn={turn} latest={turn === latest} />
          ))}
        </div>
      </div>
      <p className="visually-hidden" aria-live="polite">
        {latest !== undefined && !isSettled(latest) && "Answering."}
      </p>
      {!atEnd && (
        <button type="button" className="jump" aria-label="Jump to the latest" onClick={toEnd}>
          <ArrowDown size={17} aria-hidden />
        </button>
      )}
    </div>
  );
}
