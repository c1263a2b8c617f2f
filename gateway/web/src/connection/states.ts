// Which states has the link to the gateway, and what moves it?

import type { Link } from "../state/model";

export type LinkEvent = "start" | "opened" | "lost" | "retry" | "stop";

const TRANSITIONS: Record<Link, Partial<Record<LinkEvent, Link>>> = {
  idle: { start: "connecting" },
  connecting: { opened: "open", lost: "waiting", stop: "idle" },
  open: { lost: "waiting", stop: "idle" },
  waiting: { retry: "connecting", stop: "idle" },
};

export class InvalidTransition extends Error {
  constructor(
    readonly state: Link,
    readonly event: LinkEvent,
  ) {
    super(`the link is ${state}: ${event} means nothing to it`);
  }
}

export function nextLink(state: Link, event: LinkEvent): Link {
  const next = TRANSITIONS[state][event];
  if (next === undefined) {
    throw new InvalidTransition(state, event);
  }
  return next;
}
