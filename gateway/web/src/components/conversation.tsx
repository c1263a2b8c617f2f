// What was said in this session, and what is being said?

import { ArrowDown } from "lucide-react";
import { Fragment, type RefObject, useEffect } from "react";
import { useLocation } from "wouter";

import type { Session } from "../state/model";
import { activeTurn, isSettled } from "../state/selectors";
import { SummedUp } from "./summed-up";
import { turnAnchor, TurnView } from "./turn-view";
import type { Stick } from "./use-stick-to-bottom";

export function Conversation({ session, stick }: { session: Session; stick: Stick }) {
  const { scroller, content, atEnd, toEnd } = stick;
  const latest = session.turns.findLast((turn) => turn.phase !== "queued");
  const free = activeTurn(session) === undefined;
  useAnchor(scroller, session.load === "ready");
  return (
    <div className="conversation">
      {/* It scrolls, so that the keyboard has to reach it. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div ref={scroller} className="scroller" tabIndex={0} role="region" aria-label="Conversation">
        <div ref={content} className="column turns">
          {session.turns.map((turn) => (
            <Fragment key={turn.queryId}>
              <TurnView turn={turn} latest={turn === latest} free={free} />
              {turn.queryId === session.summary?.upto && <SummedUp summary={session.summary} />}
            </Fragment>
          ))}
          {session.compacting && (
            <p className="summing-up" role="status">
              <span className="pulse" aria-hidden />
              The model sums up older turns…
            </p>
          )}
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

/** An address may name a turn, as those of what was searched do. */
function useAnchor(scroller: RefObject<HTMLElement | null>, ready: boolean): void {
  const [path] = useLocation();
  const { hash } = location;
  useEffect(() => {
    if (ready && hash !== "") {
      const id = turnAnchor(decodeURIComponent(hash.slice(1)));
      const turn = scroller.current?.querySelector(`#${CSS.escape(id)}`);
      turn?.scrollIntoView({ block: "start" });
    }
  }, [scroller, ready, path, hash]);
}
