// What should the user know about the connection and about the model that answers?

import { CircleAlert, Sprout, X } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";

import type { AppState } from "../state/model";
import type { Health } from "../wire/rest";
import { useAppState } from "./context";

const selectLink = (state: AppState) => state.link;
const selectBackend = (state: AppState) => state.models?.backend;
const selectLinkedBefore = (state: AppState) => state.linkedBefore;
const selectHealth = (state: AppState) => state.health;

export function LinkChip() {
  const link = useAppState(selectLink);
  const before = useAppState(selectLinkedBefore);
  const health = useAppState(selectHealth);
  const words = linkWords(link, before, health);
  return (
    <span role="status">
      {words !== "" && (
        <span className="chip warning" title={missingWords(health)}>
          {words}
        </span>
      )}
    </span>
  );
}

function missingWords(health: Health | null): string | undefined {
  const missing = health?.missing ?? [];
  return missing.length > 0 ? `Not ready: ${missing.join(", ")}` : undefined;
}

function linkWords(link: string, before: boolean, health: Health | null): string {
  if (link !== "open") {
    return before ? "Reconnecting…" : "Connecting…";
  }
  if (health?.status === "starting") {
    return "Starting…";
  }
  return health?.status === "degraded" ? "Some parts are down" : "";
}

export function DemoChip() {
  const backend = useAppState(selectBackend);
  return backend?.demo === true ? (
    <Link href="/status" className="chip demo" title={backend.message}>
      <Sprout size={14} aria-hidden />
      Demo model
    </Link>
  ) : null;
}

const SEEN = "local2.demo-notice";

/** Said plainly where chats begin, until the user has read it; the chip and the answers' footers stay. */
export function DemoBanner() {
  const backend = useAppState(selectBackend);
  const [seen, setSeen] = useState(() => sessionStorage.getItem(SEEN) === "yes");
  if (backend?.demo !== true || seen) {
    return null;
  }
  const dismiss = () => {
    sessionStorage.setItem(SEEN, "yes");
    setSeen(true);
  };
  return (
    <div className="banner demo" role="status">
      <Sprout size={17} aria-hidden />
      <p>
        <strong>A small demo model answers.</strong> <WithCode text={backend.message} />
      </p>
      <button
        type="button"
        className="icon-button small"
        aria-label="Close this notice"
        onClick={dismiss}
      >
        <X size={15} aria-hidden />
      </button>
    </div>
  );
}

/** Without a model no question can be answered: said wherever one can be asked. */
export function NoModelBanner() {
  const backend = useAppState(selectBackend);
  return backend?.kind === "none" && backend.state !== "unknown" ? (
    <div className="banner warning" role="status">
      <CircleAlert size={17} aria-hidden />
      <p>
        <strong>No model answers.</strong> <WithCode text={backend.message} />
      </p>
    </div>
  ) : null;
}

/** What stands in backticks is a command to type. */
export function WithCode({ text }: { text: string }) {
  return text
    .split(/`([^`]+)`/)
    .map((piece, index) => (index % 2 === 1 ? <code key={index}>{piece}</code> : piece));
}
