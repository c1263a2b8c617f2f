// What does the gateway say now, and a little later?

import { useCallback, useEffect, useState } from "react";

import { messageOf } from "../connection/rest";

export interface Polled<T> {
  readonly value: T | null;
  readonly error: string;
  readonly refresh: () => Promise<void>;
}

/** Asks at once, and again while the page is in view; once where `everyMs` is 0. `ask` has to be stable. */
export function usePolling<T>(ask: () => Promise<T>, everyMs: number): Polled<T> {
  const [value, setValue] = useState<T | null>(null);
  const [error, setError] = useState("");
  const refresh = useCallback(async () => {
    await ask().then(
      (answer) => {
        setValue(answer);
        setError("");
      },
      (reason: unknown) => setError(messageOf(reason)),
    );
  }, [ask]);
  useEffect(() => {
    void refresh();
    if (everyMs === 0) {
      return undefined;
    }
    const timer = setInterval(() => {
      if (!document.hidden) {
        void refresh();
      }
    }, everyMs);
    return () => clearInterval(timer);
  }, [refresh, everyMs]);
  return { value, error, refresh };
}
