// What was changed on the settings page and not saved yet? It outlives the page, so that looking something up
// in a chat loses nothing.

export type Drafts = Readonly<Record<string, string>>;

let drafts: Drafts = {};
const listeners = new Set<() => void>();

export const settingDrafts = {
  get: (): Drafts => drafts,
  /** `text` null: it is as it was. */
  put: (id: string, text: string | null): void => {
    const others = without(drafts, id);
    change(text === null ? others : { ...others, [id]: text });
  },
  clear: (): void => change({}),
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  },
};

export function without<T>(record: Readonly<Record<string, T>>, id: string): Record<string, T> {
  return Object.fromEntries(Object.entries(record).filter(([key]) => key !== id));
}

function change(next: Drafts): void {
  drafts = next;
  // The browser asks before it closes or reloads the page.
  const toggle = Object.keys(next).length > 0 ? "addEventListener" : "removeEventListener";
  globalThis[toggle]("beforeunload", stay);
  for (const listener of listeners) {
    listener();
  }
}

function stay(event: Event): void {
  event.preventDefault();
}
