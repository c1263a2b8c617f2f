// What was typed and not yet sent? Kept per session, over reloads.

const PREFIX = "local2.draft.";

function key(sessionId: string | null): string {
  return PREFIX + (sessionId ?? "new");
}

export function readDraft(sessionId: string | null): string {
  try {
    return localStorage.getItem(key(sessionId)) ?? "";
  } catch {
    return "";
  }
}

/** Storage may be off or full; the draft then lives as long as the page. */
export function writeDraft(sessionId: string | null, text: string): void {
  try {
    if (text === "") {
      localStorage.removeItem(key(sessionId));
    } else {
      localStorage.setItem(key(sessionId), text);
    }
  } catch {
    return;
  }
}
