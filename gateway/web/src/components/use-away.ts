// Has LoCAL2 been away for so long that waiting is not all there is to do?

import { useEffect, useState } from "react";

import type { AppState } from "../state/model";
import { useAppState } from "./context";

const PATIENCE_MS = 10_000;
const isLinked = (state: AppState) => state.link === "open";

export function useAway(): boolean {
  const linked = useAppState(isLinked);
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (linked) {
      return undefined;
    }
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => {
      clearTimeout(timer);
      setLate(false);
    };
  }, [linked]);
  return late && !linked;
}
