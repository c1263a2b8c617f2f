// What opens below an answer, brought into view.

import { type ReactNode, useEffect, useRef } from "react";

interface TurnDetailProps {
  /** Another value once there is more to see. */
  shown: unknown;
  children: ReactNode;
}

export function TurnDetail({ shown, children }: TurnDetailProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Some browsers give a promise here, which an effect may not return.
    box.current?.scrollIntoView({ block: "nearest" });
  }, [shown]);
  return (
    <div ref={box} className="turn-detail">
      {children}
    </div>
  );
}
