// Is a key meant for us, or for the input method that still composes?

import type { KeyboardEvent } from "react";

/** Some browsers report the Enter that ends a composition only by this code. */
const COMPOSING_KEY = 229;

export function isComposing(event: KeyboardEvent): boolean {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only sign of it in Safari
  return event.nativeEvent.isComposing || event.keyCode === COMPOSING_KEY;
}

export function isSubmit(event: KeyboardEvent): boolean {
  return event.key === "Enter" && !event.shiftKey && !isComposing(event);
}
