// How is a question shown, asked in other words, and its versions walked?

import { ChevronLeft, ChevronRight, Pencil } from "lucide-react";
import { useState } from "react";

import { messageOf } from "../connection/rest";
import type { Turn } from "../state/model";
import { isSubmit } from "./composing";
import { useClient } from "./context";

/** `free`: no turn of the chat runs, so that its branches can be changed. */
export function Question({ turn, free }: { turn: Turn; free: boolean }) {
  const [editing, setEditing] = useState(false);
  const client = useClient();
  if (editing) {
    return (
      <EditField
        text={turn.query}
        onCancel={() => setEditing(false)}
        onAsk={(text) => {
          setEditing(false);
          client.askAgain(turn, text);
        }}
      />
    );
  }
  return (
    <div className="asked">
      <div className="question" dir="auto">
        <span className="visually-hidden">You asked: </span>
        {turn.query}
      </div>
      <div className="question-actions">
        <Versions turn={turn} />
        {free && (
          <button
            type="button"
            className="icon-button small"
            aria-label="Edit the question"
            title="Edit the question"
            onClick={() => setEditing(true)}
          >
            <Pencil size={14} aria-hidden />
          </button>
        )}
      </div>
    </div>
  );
}

function Versions({ turn }: { turn: Turn }) {
  const client = useClient();
  const { versions, sessionId } = turn;
  const place = versions.indexOf(turn.queryId);
  if (versions.length < 2 || place < 0) {
    return null;
  }
  const show = (queryId: string | undefined) => {
    if (queryId !== undefined) {
      client
        .showBranch(sessionId, queryId)
        .catch((error: unknown) => client.notice(`Not shown: ${messageOf(error)}`));
    }
  };
  return (
    <div className="versions" role="group" aria-label="Versions">
      <button
        type="button"
        className="icon-button small"
        aria-label="Earlier version"
        disabled={place === 0}
        onClick={() => show(versions[place - 1])}
      >
        <ChevronLeft size={15} aria-hidden />
      </button>
      <span>
        <span className="visually-hidden">Version </span>
        {place + 1}/{versions.length}
      </span>
      <button
        type="button"
        className="icon-button small"
        aria-label="Later version"
        disabled={place === versions.length - 1}
        onClick={() => show(versions[place + 1])}
      >
        <ChevronRight size={15} aria-hidden />
      </button>
    </div>
  );
}

interface EditFieldProps {
  text: string;
  onCancel: () => void;
  onAsk: (text: string) => void;
}

function EditField({ text: before, onCancel, onAsk }: EditFieldProps) {
  const [text, setText] = useState(before);
  const ask = () => {
    if (text.trim() !== "") {
      onAsk(text.trim());
    }
  };
  return (
    <form
      className="edit-question"
      onSubmit={(event) => {
        event.preventDefault();
        ask();
      }}
    >
      <textarea
        className="input"
        aria-label="The question in other words"
        dir="auto"
        rows={Math.min(10, text.split("\n").length + 1)}
        value={text}
        // The user just asked to type here.
        // eslint-disable-next-line jsx-a11y/no-autofocus
        autoFocus
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (isSubmit(event)) {
            event.preventDefault();
            ask();
          } else if (event.key === "Escape") {
            onCancel();
          }
        }}
      />
      <div className="button-row end">
        <button type="button" className="button small" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" className="button primary small" disabled={text.trim() === ""}>
          Ask
        </button>
      </div>
    </form>
  );
}
