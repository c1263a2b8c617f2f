// What time is it, for a label that counts? Ticks only while asked to.

import { useEffect, useState } from "react";

export function useNow(ticking: boolean, everyMs = 500): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!ticking) {
      return undefined;
    }
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [ticking, everyMs]);
  return now;
}
