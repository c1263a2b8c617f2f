// How does a tool ask before it acts? With exactly what it would do.

import { ShieldQuestion } from "lucide-react";

import { useClient } from "../components/context";
import { useNow } from "../components/use-now";
import { Json } from "./json";
import { definePart, type PartOf } from "./registry";

export function ApprovalPart({ part }: { part: PartOf<"approval"> }) {
  const { approval } = part;
  const open = approval.answered === null && !approval.closed && !part.over;
  const expired = useNow(open, 1000) >= Date.parse(approval.expires);
  return (
    <section className="approval" aria-label={`Approval for ${approval.tool}`}>
      <p className="approval-head">
        <ShieldQuestion size={16} aria-hidden />
        <span>
          <code>{approval.tool}</code> asks to run with
        </span>
      </p>
      <Json value={approval.args} />
      {approval.reason !== "" && <p className="muted">{approval.reason}</p>}
      {open && !expired ? (
        <Choice sessionId={part.sessionId} approvalId={approval.approvalId} />
      ) : (
        <p className="muted">{answerWords(approval.answered, expired)}</p>
      )}
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

function answerWords(answered: boolean | null, expired: boolean): string {
  if (answered === null) {
    return expired ? "Not answered in time, so it was denied." : "Not needed any more.";
  }
  return answered ? "Allowed." : "Denied.";
}

definePart("approval", ApprovalPart);
