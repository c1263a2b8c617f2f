// May the assistant use the web? Asked on the settings page, and once where chats begin.

import { Globe, X } from "lucide-react";
import { useEffect, useId, useState } from "react";

import { messageOf } from "../connection/rest";
import type { AppState } from "../state/model";
import { useAppState, useClient } from "./context";
import { WithCode } from "./with-code";

const webOf = (state: AppState) => state.web;

function useWeb() {
  const client = useClient();
  const web = useAppState(webOf);
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => void client.refreshWeb(), [client]);
  const allow = async (enabled: boolean) => {
    setBusy(true);
    try {
      await client.allowWeb(enabled);
      setError("");
    } catch (reason) {
      setError(messageOf(reason));
    }
    setBusy(false);
  };
  const problems = [...(web?.problems ?? []), ...(error === "" ? [] : [error])];
  return { web, problems, busy, allow: (enabled: boolean) => void allow(enabled) };
}

function Problems({ problems }: { problems: readonly string[] }) {
  return problems.map((problem) => (
    <p key={problem} className="field-error" role="alert">
      <WithCode text={problem} />
    </p>
  ));
}

const LEAVES =
  "Its searches and the addresses it reads then leave this machine; your chats stay here.";

export function WebSwitch() {
  const { web, problems, busy, allow } = useWeb();
  const id = useId();
  if (web === null) {
    return null;
  }
  const tools = web.tools.map(({ tool }) => tool);
  return (
    <div className="setting" data-editor="switch">
      <div className="setting-words">
        <label htmlFor={id}>Let the assistant use the web</label>
        <p id={`${id}-about`}>
          {LEAVES} {tools.length > 0 && `For ${tools.join(", ")}.`} At once, without Save.
        </p>
        <Problems problems={problems} />
      </div>
      <div className="setting-field">
        <input
          id={id}
          type="checkbox"
          role="switch"
          className="switch"
          aria-checked={web.enabled}
          aria-describedby={`${id}-about`}
          checked={web.enabled}
          disabled={busy || tools.length === 0}
          onChange={(event) => allow(event.target.checked)}
        />
      </div>
    </div>
  );
}

const CLOSED = "local2.web-hint";

/** Where chats begin, while the web is off and nobody said no. */
export function WebHint() {
  const { web, problems, busy, allow } = useWeb();
  const [closed, setClosed] = useState(() => localStorage.getItem(CLOSED) === "yes");
  if (web === null || web.enabled || web.tools.length === 0 || closed) {
    return null;
  }
  const close = () => {
    localStorage.setItem(CLOSED, "yes");
    setClosed(true);
  };
  return (
    <div className="banner">
      <Globe size={17} aria-hidden />
      <div className="banner-words">
        <p>
          <strong>The assistant cannot use the web yet.</strong> {LEAVES}
        </p>
        <Problems problems={problems} />
        <button type="button" className="button small" disabled={busy} onClick={() => allow(true)}>
          Let the assistant use the web
        </button>
      </div>
      <button
        type="button"
        className="icon-button small"
        aria-label="Close this hint"
        onClick={close}
      >
        <X size={15} aria-hidden />
      </button>
    </div>
  );
}
