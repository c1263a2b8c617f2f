// Is this chat kept out of the memory?

import { EyeOff } from "lucide-react";
import { useId } from "react";

import type { AppState } from "../state/model";
import { useAppState } from "./context";
import { useSessionId } from "./use-session-id";

const MEANS =
  "Nothing of it is remembered, and nothing is recalled in it. It stays in your list of chats until you delete it.";

/** Where a chat begins; it cannot be changed later. */
export function IncognitoSwitch({
  on,
  onChange,
}: {
  on: boolean;
  onChange: (on: boolean) => void;
}) {
  const id = useId();
  return (
    <div className="incognito-switch" data-on={on}>
      <EyeOff size={16} aria-hidden />
      <label htmlFor={id}>Incognito chat</label>
      <input
        id={id}
        type="checkbox"
        role="switch"
        className="switch"
        aria-checked={on}
        aria-describedby={`${id}-means`}
        checked={on}
        onChange={(event) => onChange(event.target.checked)}
      />
      <p id={`${id}-means`} hidden={!on}>
        {MEANS}
      </p>
    </div>
  );
}

/** In the bar of an incognito chat. */
export function IncognitoChip() {
  const sessionId = useSessionId();
  const incognito = useAppState(
    (state: AppState) => sessionId !== null && state.sessions[sessionId]?.incognito === true,
  );
  return incognito ? (
    <span className="chip incognito" title={MEANS}>
      <EyeOff size={14} aria-hidden />
      Incognito
    </span>
  ) : null;
}
