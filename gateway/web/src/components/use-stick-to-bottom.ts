// When does the conversation scroll by itself? While its end is in view, and never once the user scrolled up.

import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** So close to the end counts as the end. */
const NEAR_PX = 48;

export interface Stick {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly content: RefObject<HTMLDivElement | null>;
  readonly atEnd: boolean;
  readonly toEnd: () => void;
}

/** What follows a change soon (a footer, colours of code) still belongs to it. */
const GRACE_MS = 800;

/**
 * Follows growth while an answer comes (`live`) and when a session was just opened. Growth at other times
 * is a card that the user unfolds, and stays where it is.
 */
export function useStickToBottom(sessionId: string, live: boolean): Stick {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const stuck = useRef(true);
  const [atEnd, setAtEnd] = useState(true);

  const toEnd = useCallback(() => {
    stuck.current = true;
    setAtEnd(true);
    scrollDown(scroller.current);
  }, []);

  const followUntil = useRef(0);
  useLayoutEffect(() => {
    followUntil.current = live ? Infinity : performance.now() + GRACE_MS;
  }, [sessionId, live]);
  useLayoutEffect(toEnd, [sessionId, toEnd]);

  useEffect(() => {
    const box = scroller.current;
    const inner = content.current;
    if (box === null || inner === null) {
      return undefined;
    }
    let last = box.scrollTop;
    // Only a move upwards lets go: growing content also changes the distance to the end.
    const onScroll = () => {
      const near = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX;
      if (near) {
        stuck.current = true;
      } else if (box.scrollTop < last - 1) {
        stuck.current = false;
      }
      last = box.scrollTop;
      setAtEnd(near);
    };
    const follow = new ResizeObserver(() => {
      if (stuck.current && performance.now() < followUntil.current) {
        scrollDown(box);
      } else {
        onScroll();
      }
    });
    box.addEventListener("scroll", onScroll, { passive: true });
    follow.observe(inner);
    follow.observe(box);
    return () => {
      box.removeEventListener("scroll", onScroll);
      follow.disconnect();
    };
  }, [sessionId]);

  return { scroller, content, atEnd, toEnd };
}

function scrollDown(box: HTMLElement | null): void {
  if (box !== null) {
    box.scrollTop = box.scrollHeight;
  }
}
