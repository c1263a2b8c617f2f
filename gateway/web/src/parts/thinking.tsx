// How is the model's thinking shown? Folded, with its time.

import { Brain, ChevronRight } from "lucide-react";
import { useId, useState } from "react";

import { useNow } from "../components/use-now";
import { seconds } from "../state/words";
import { definePart, type PartOf } from "./registry";

export function ThinkingPart({ part }: { part: PartOf<"thinking"> }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <section className="thinking" data-live={part.live} data-open={open}>
      <button
        type="button"
        className="thinking-head"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        <Brain size={15} aria-hidden />
        <ThinkingLabel part={part} />
        <ChevronRight size={15} className="chevron" aria-hidden />
      </button>
      {open && (
        <div id={id} className="thinking-text" dir="auto">
          {part.text}
        </div>
      )}
    </section>
  );
}

function ThinkingLabel({ part }: { part: PartOf<"thinking"> }) {
  const ticking = part.live && part.since !== null;
  const now = useNow(ticking);
  const ms = (part.ms ?? 0) + (part.since === null ? 0 : Math.max(0, now - part.since));
  const time = ms > 0 ? seconds(ms / 1000) : "";
  if (part.live) {
    return (
      <span>
        <span className="shimmer">Thinking</span> {ticking && ms >= 1000 && <time>{time}</time>}
      </span>
    );
  }
  return (
    <span>
      {time === "" ? "Thought about it" : `Thought ${ms < 100 ? "briefly" : `for ${time}`}`}
    </span>
  );
}

definePart("thinking", ThinkingPart);
