// What can be done with a turn that is over? Ask it again, or delete it.

import { RotateCcw, Trash2 } from "lucide-react";
import { useState } from "react";

import { messageOf } from "../connection/rest";
import type { Turn } from "../state/model";
import { useClient } from "./context";
import { Confirm } from "./modal";

export function TurnActions({ turn }: { turn: Turn }) {
  const client = useClient();
  const [deleting, setDeleting] = useState(false);
  const remove = () => {
    client
      .removeTurn(turn)
      .catch((error: unknown) => client.notice(`Not deleted: ${messageOf(error)}`));
  };
  return (
    <>
      <button
        type="button"
        className="icon-button small"
        aria-label="Ask again"
        title="Ask again"
        onClick={() => client.askAgain(turn)}
      >
        <RotateCcw size={14} aria-hidden />
      </button>
      <button
        type="button"
        className="icon-button small"
        aria-label="Delete this turn"
        title="Delete this turn"
        onClick={() => setDeleting(true)}
      >
        <Trash2 size={14} aria-hidden />
      </button>
      {deleting && (
        <Confirm
          title="Delete this turn?"
          text="The question, its answer and all that followed it will be gone for good."
          action="Delete"
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        />
      )}
    </>
  );
}
