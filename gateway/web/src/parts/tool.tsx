// How is a tool call shown? A card: what it does, how it stands; its arguments, result and sources inside.

import { Check, ChevronRight, CircleAlert, Globe, LoaderCircle } from "lucide-react";
import { useId, useState } from "react";

import { useNow } from "../components/use-now";
import { outcomeWords, seconds } from "../state/words";
import type { ToolCallView } from "../wire/generated";
import { Json, Plain } from "./json";
import { definePart, type PartOf } from "./registry";
import { Sources } from "./sources";
import { toolView } from "./tool-views";

export function ToolPart({ part }: { part: PartOf<"tool"> }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const { call } = part;
  const { icon: Icon, label } = toolView(call.tool);
  const outcome = part.over && call.outcome === "running" ? "cancelled" : call.outcome;
  return (
    <section className="tool-card" data-outcome={outcome} aria-label={`Tool ${call.tool}`}>
      <button
        type="button"
        className="tool-head"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        <Icon size={16} className="tool-icon" aria-hidden />
        <span className="tool-label">{label(call)}</span>
        <code className="tool-name">{call.tool}</code>
        {call.untrusted && <Outside />}
        <Outcome outcome={outcome} tookS={call.seconds} />
        <ChevronRight size={15} className="chevron" aria-hidden />
      </button>
      {open && (
        <div id={id} className="tool-body">
          <Details call={call} />
        </div>
      )}
      {!open && <Sources sources={call.sources} />}
    </section>
  );
}

/** What comes from elsewhere may say anything. */
function Outside() {
  return (
    <span className="outside" title="Content from outside, not checked by anyone">
      <Globe size={12} aria-hidden />
      <span className="outside-words">from outside</span>
    </span>
  );
}

function Outcome({ outcome, tookS }: { outcome: string; tookS: number }) {
  if (outcome === "running") {
    return <Running />;
  }
  const Icon = outcome === "ok" ? Check : CircleAlert;
  return (
    <span className="tool-outcome">
      {tookS > 0 && <time>{seconds(tookS)}</time>}
      <span className={outcome === "ok" ? "visually-hidden" : ""}>{outcomeWords(outcome)}</span>
      <Icon size={15} aria-hidden />
    </span>
  );
}

function Running() {
  const [since] = useState(Date.now);
  const waited = (useNow(true) - since) / 1000;
  return (
    <span className="tool-outcome">
      {waited >= 1 && <time>{seconds(Math.floor(waited))}</time>}
      <span className="visually-hidden">running</span>
      <LoaderCircle size={15} className="spin" aria-hidden />
    </span>
  );
}

function Details({ call }: { call: ToolCallView }) {
  return (
    <>
      <h3>
        <code>{call.tool}</code> was called with
      </h3>
      {Object.keys(call.args).length > 0 ? (
        <Json value={call.args} />
      ) : (
        <p className="muted">no arguments</p>
      )}
      {call.result !== "" && (
        <>
          <h3>{call.outcome === "ok" ? "Result" : `Result (${outcomeWords(call.outcome)})`}</h3>
          <Plain text={call.result} />
        </>
      )}
      {call.sources.length > 0 && <h3>Sources</h3>}
      <Sources sources={call.sources} />
    </>
  );
}

definePart("tool", ToolPart);
