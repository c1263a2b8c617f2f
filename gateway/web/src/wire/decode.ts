// What does a text frame from the server say? Unknown types come from a newer server and are passed over.

import { type ServerEvent, serverEventTypes } from "./generated";

export function decodeServerEvent(text: string): ServerEvent | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null || !("type" in value)) {
    return null;
  }
  return typeof value.type === "string" && serverEventTypes.has(value.type)
    ? (value as ServerEvent)
    : null;
}
