// How is a question typed and sent? Enter sends, Shift+Enter starts a line, and what an input method still
// composes is nobody's business.

import { ArrowUp, Square } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import { readDraft, writeDraft } from "../state/drafts";
import { usageOf } from "../state/commands";
import type { AppState } from "../state/model";
import type { CommandView } from "../wire/rest";
import { CommandList, useCommandMenu } from "./command-menu";
import { isSubmit } from "./composing";
import { useAppState, useClient } from "./context";
import { ModelPicker } from "./model-picker";

interface ComposerProps {
  /** Whose draft it is; null for the chat that does not exist yet. */
  sessionId: string | null;
  connected: boolean;
  /** A turn runs: it can be stopped, and the next question will wait for it. */
  running: boolean;
  /** Resolves to whether it was taken; the draft stays where not. */
  onSend: (text: string) => Promise<boolean> | boolean;
  onStop: () => void;
}

const NO_COMMANDS: readonly CommandView[] = [];
const commandsOf = (state: AppState) => state.models?.commands ?? NO_COMMANDS;

export function Composer(props: ComposerProps) {
  const { sessionId, connected, running, onSend, onStop } = props;
  const [text, setText] = useState(() => readDraft(sessionId));
  const [busy, setBusy] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);

  const client = useClient();
  const commands = useAppState(commandsOf);

  const change = (value: string) => {
    setText(value);
    writeDraft(sessionId, value);
    if (value === "/") {
      void client.refreshModels(); // tools, and with them commands, come and go
    }
  };
  const menu = useCommandMenu(text, commands, change);
  const listed = menu.commands.length > 0;
  // A chat is opened to write in it; on a small page its beginning stays in view all the same.
  useEffect(() => {
    if (matchMedia("(hover: hover)").matches) {
      field.current?.focus({ preventScroll: true });
    }
  }, []);
  // As high as its text; the style sheet has the limit, beyond which it scrolls.
  useEffect(() => {
    const area = field.current;
    if (area !== null) {
      area.style.height = "auto";
      area.style.height = `${area.scrollHeight}px`;
    }
  }, [text]);

  const ready = text.trim() !== "" && connected && !busy;
  const send = async () => {
    if (!ready) {
      return;
    }
    setBusy(true);
    const taken = await onSend(text.trim());
    setBusy(false);
    if (taken) {
      change("");
    }
  };

  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <CommandList menu={menu} />
      <textarea
        ref={field}
        rows={1}
        dir="auto"
        aria-label="Your question"
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={listed ? menu.listId : undefined}
        aria-activedescendant={listed ? menu.optionId(menu.chosen) : undefined}
        placeholder={running ? "Ask the next question" : "Ask anything"}
        value={text}
        onChange={(event) => change(event.target.value)}
        onKeyDown={(event) => {
          if (menu.onKey(event)) {
            event.preventDefault();
          } else if (isSubmit(event)) {
            event.preventDefault();
            void send();
          }
        }}
      />
      <div className="composer-foot">
        <ModelPicker sessionId={sessionId} />
        <span className="composer-hint">{usageOf(text, commands) || hint(connected, running)}</span>
        {running && (
          <button
            type="button"
            className="round-button stop"
            aria-label="Stop the answer"
            title="Stop the answer"
            onClick={onStop}
          >
            <Square size={13} fill="currentColor" aria-hidden />
          </button>
        )}
        <button
          type="submit"
          className="round-button send"
          aria-label={running ? "Queue the question" : "Send the question"}
          title={running ? "Queue the question" : "Send the question"}
          disabled={!ready}
        >
          <ArrowUp size={19} strokeWidth={2.4} aria-hidden />
        </button>
      </div>
    </form>
  );
}

function hint(connected: boolean, running: boolean): string {
  if (!connected) {
    return "Not connected. What you type is kept.";
  }
  return running ? "The next question waits for this answer." : "";
}
