// How does a tool ask before it acts? With exactly what it would do.

import { ShieldQuestion } from "lucide-react";

import { useClient } from "../components/context";
import { useNow } from "../components/use-now";
import type { Approval } from "../state/model";
import { duration } from "../state/words";
import { ExactJson } from "./json";
import { definePart, type PartOf } from "./registry";

export function ApprovalPart({ part }: { part: PartOf<"approval"> }) {
  const { approval } = part;
  const waits = !approval.closed && !part.over;
  const leftS = Math.ceil((Date.parse(approval.expires) - useNow(waits, 1000)) / 1000);
  // An answer may be lost on its way: until there is word of one, it can be given again.
  const open = waits && !(leftS <= 0);
  return (
    <section className="approval" data-open={open} aria-label={`Approval for ${approval.tool}`}>
      <p className="approval-head">
        <ShieldQuestion size={16} aria-hidden />
        <span>
          <code>{approval.tool}</code> {open ? "asks to run with" : "asked to run with"}
        </span>
      </p>
      <ExactJson value={approval.args} />
      {approval.reason !== "" && <p>{approval.reason}</p>}
      {open && <Choice sessionId={part.sessionId} approvalId={approval.approvalId} />}
      {open && leftS > 0 && approval.here === null && (
        <p className="muted">Without an answer it is denied in {duration(leftS)}.</p>
      )}
      <p className="approval-answer" role="status">
        {(!open || approval.here !== null) && answerWords(approval, waits)}
      </p>
    </section>
  );
}

function Choice({ sessionId, approvalId }: { sessionId: string; approvalId: string }) {
  const client = useClient();
  return (
    <div className="button-row">
      <button
        type="button"
        className="button primary"
        onClick={() => client.approve(sessionId, approvalId, true)}
      >
        Allow once
      </button>
      <button
        type="button"
        className="button"
        onClick={() => client.approve(sessionId, approvalId, false)}
      >
        Deny
      </button>
    </div>
  );
}

export function answerWords(approval: Approval, waits: boolean): string {
  const { here, answered, expired, elsewhere } = approval;
  if (waits) {
    return here === null ? "Time is up." : `${here ? "Allowed" : "Denied"}; passing it on…`;
  }
  if (answered === null) {
    return expired ? "Not answered in time, so it was denied." : "Not needed any more.";
  }
  return `${answered ? "Allowed" : "Denied"}${elsewhere ? " elsewhere" : ""}.`;
}

definePart("approval", ApprovalPart);
