// How is everything that is remembered carried away, brought in, or deleted?

import { useRef, useState } from "react";

import { messageOf, rest } from "../connection/rest";
import { inParts } from "../state/memories";
import { useClient } from "./context";
import { Confirm } from "./modal";

const PART_BYTES = 500_000;

export function MemoryTransfer({ onChanged }: { onChanged: () => void }) {
  const client = useClient();
  const [deleting, setDeleting] = useState(false);
  const [busy, setBusy] = useState(false);
  const file = useRef<HTMLInputElement>(null);

  const takeIn = async (chosen: File) => {
    setBusy(true);
    try {
      let [added, known] = [0, 0];
      for (const { lines, first } of inParts(await chosen.text(), PART_BYTES)) {
        const taken = await rest.importMemories(lines, first);
        added += taken.added;
        known += taken.known;
      }
      client.notice(`Taken in: ${added}. Known already: ${known}.`);
    } catch (error) {
      client.notice(`Not taken in: ${messageOf(error)}`);
    }
    setBusy(false);
    onChanged();
  };
  const deleteAll = () => {
    rest
      .forgetAll()
      .then(onChanged)
      .catch((error: unknown) => client.notice(`Not deleted: ${messageOf(error)}`));
  };
  return (
    <section className="card" aria-labelledby="transfer">
      <h2 id="transfer">All of it</h2>
      <p className="muted">
        An export is a file of JSON lines. Taking the same file in twice changes nothing.
      </p>
      <div className="button-row memory-transfer">
        <a className="button" href="/api/memory/export" download="local2-memory.jsonl">
          Export
        </a>
        <button
          type="button"
          className="button"
          disabled={busy}
          onClick={() => file.current?.click()}
        >
          Import
        </button>
        <input
          ref={file}
          type="file"
          hidden
          accept=".jsonl,application/x-ndjson"
          aria-label="A file to take in"
          onChange={(event) => {
            const chosen = event.target.files?.[0];
            event.target.value = "";
            if (chosen !== undefined) {
              void takeIn(chosen);
            }
          }}
        />
        <button type="button" className="button danger" onClick={() => setDeleting(true)}>
          Delete everything
        </button>
      </div>
      {deleting && (
        <Confirm
          title="Delete everything that is remembered?"
          text="All facts, memories of chats and insights will be gone for good. The chats themselves stay."
          action="Delete everything"
          onConfirm={deleteAll}
          onClose={() => setDeleting(false)}
        />
      )}
    </section>
  );
}
