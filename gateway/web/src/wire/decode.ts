// What does a text frame from the server say? Unknown types come from a newer server and are passed over, and
// so is what is no frame.

import { Mismatch } from "./check";
import { type ServerEvent, serverEvents } from "./generated";

export function decodeServerEvent(text: string): ServerEvent | null {
  try {
    return decoded(JSON.parse(text));
  } catch (error) {
    if (error instanceof Mismatch || error instanceof SyntaxError) {
      return null;
    }
    throw error;
  }
}

function decoded(value: unknown): ServerEvent | null {
  if (typeof value !== "object" || value === null || !("type" in value)) {
    return null;
  }
  return isKnown(value.type) ? serverEvents[value.type](value, "") : null;
}

function isKnown(type: unknown): type is ServerEvent["type"] {
  return typeof type === "string" && Object.hasOwn(serverEvents, type);
}
