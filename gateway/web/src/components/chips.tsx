// What should the user know about the connection and about the model that answers?

import { CircleAlert, Sprout, X } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";

import type { AppState } from "../state/model";
import type { Health } from "../wire/rest";
import { waitingWords } from "../state/place";
import { useAppState } from "./context";
import { WithCode } from "./with-code";

const selectLink = (state: AppState) => state.link;
const selectBackend = (state: AppState) => state.models?.backend;
const selectLinkedBefore = (state: AppState) => state.linkedBefore;
const selectHealth = (state: AppState) => state.health;

export function LinkChip({ away }: { away: boolean }) {
  const link = useAppState(selectLink);
  const before = useAppState(selectLinkedBefore);
  const health = useAppState(selectHealth);
  const words = away ? "Not running" : linkWords(link, before, health);
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

const commandOf = (state: AppState) => state.health?.command ?? "";

/** `command` is how it was called when it last ran; empty where this page never heard. */
export function startWords(command: string): string {
  if (command === "") {
    return "Start it with `./scripts/run` (or `local2 up`).";
  }
  return `Start it with \`${command === "local2" ? "local2 up" : command}\`.`;
}

/** Nobody answered for a while: waiting may not be enough. */
export function AwayBanner() {
  const command = useAppState(commandOf);
  return (
    <div className="column away">
      <div className="banner warning" role="alert">
        <CircleAlert size={17} aria-hidden />
        <p>
          <strong>LoCAL2 is not running.</strong>{" "}
          <WithCode text={`${startWords(command)} This page goes on by itself then.`} />
        </p>
      </div>
    </div>
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
        <WithCode text={backend.message} />
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

/** While no answer can come: said wherever a question can be asked. */
export function NoModelBanner() {
  const words = waitingWords(useAppState(selectBackend));
  return (
    <div role="status">
      {words !== null && (
        <div className="banner warning">
          <CircleAlert size={17} aria-hidden />
          <p>
            <strong>{words.title}</strong> <WithCode text={words.text} />
          </p>
        </div>
      )}
    </div>
  );
}
