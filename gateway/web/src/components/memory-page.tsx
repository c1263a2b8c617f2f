// What is remembered of me, and how do I change that?

import { useState } from "react";

import { messageOf, rest } from "../connection/rest";
import { KINDS } from "../state/memories";
import type { MemoryStatusView } from "../wire/rest";
import { useClient } from "./context";
import { MemoryItem } from "./memory-item";
import { MemoryTransfer } from "./memory-transfer";
import { type Memories, useMemories } from "./use-memories";
import { usePolling } from "./use-polling";
import { WithCode } from "./with-code";

const STATUS_EVERY_MS = 3000;

export default function MemoryPage() {
  const [kind, setKind] = useState("");
  const [words, setWords] = useState("");
  const memories = useMemories(kind, words);
  const status = usePolling(rest.memoryStatus, STATUS_EVERY_MS);
  return (
    <main className="page">
      <div className="page-column">
        <h1>Memory</h1>
        <p className="muted">
          What LoCAL2 keeps of your chats, on this machine. Change it, carry it away, delete it:
          what is deleted is gone, and no answer knows it any more.
        </p>
        {memories.error !== "" && (
          <p className="page-error" role="alert">
            {memories.error}
          </p>
        )}
        {status.value !== null && <Status status={status.value} />}
        <NewFact onKept={memories.refresh} />
        <div className="memory-filter">
          <input
            type="search"
            className="search"
            aria-label="Search the memory"
            placeholder="Search by meaning"
            maxLength={500}
            value={words}
            onChange={(event) => setWords(event.target.value)}
          />
          <Kinds chosen={kind} onChoose={setKind} />
        </div>
        <List
          memories={memories}
          searching={words.trim() !== ""}
          sharing={status.value?.collective === true}
        />
        <MemoryTransfer onChanged={memories.refresh} />
      </div>
    </main>
  );
}

function Status({ status }: { status: MemoryStatusView }) {
  const words = statusWords(status);
  return (
    <div role="status">
      {words.map((text) => (
        <p key={text} className="banner memory-status">
          <span>
            <WithCode text={text} />
          </span>
        </p>
      ))}
    </div>
  );
}

export function statusWords(status: MemoryStatusView): readonly string[] {
  const { message, reembedded, reembedding, write_enabled: writing } = status;
  const words: string[] = [];
  if (!writing) {
    words.push("Nothing new is remembered: `write_enabled` is off in the settings of the memory.");
  }
  if (reembedding > 0) {
    words.push(
      `Another embedding model takes over: ${reembedded.toLocaleString()} of ${reembedding.toLocaleString()} memories are done. Recall works meanwhile.`,
    );
  }
  if (message !== "") {
    words.push(message);
  }
  return words;
}

function NewFact({ onKept }: { onKept: () => void }) {
  const client = useClient();
  const [fact, setFact] = useState("");
  const [busy, setBusy] = useState(false);
  const keep = async () => {
    setBusy(true);
    try {
      const { merged } = await rest.pinFact(fact.trim());
      setFact("");
      if (merged) {
        client.notice("That was known already, in these words or others.");
      }
      onKept();
    } catch (error) {
      client.notice(`Not remembered: ${messageOf(error)}`);
    }
    setBusy(false);
  };
  return (
    <form
      className="new-fact"
      onSubmit={(event) => {
        event.preventDefault();
        void keep();
      }}
    >
      <input
        className="input"
        dir="auto"
        aria-label="A fact to remember"
        placeholder="A fact to remember, such as: I am allergic to nuts."
        maxLength={2000}
        value={fact}
        onChange={(event) => setFact(event.target.value)}
      />
      <button type="submit" className="button primary" disabled={busy || fact.trim() === ""}>
        Remember
      </button>
    </form>
  );
}

function Kinds({ chosen, onChoose }: { chosen: string; onChoose: (kind: string) => void }) {
  const all = [{ kind: "", name: "All", about: "Everything that is remembered" }, ...KINDS];
  return (
    <div className="choices" role="group" aria-label="Which kind">
      {all.map(({ kind, name, about }) => (
        <button
          key={kind}
          type="button"
          className="button small"
          aria-pressed={kind === chosen}
          title={about}
          onClick={() => onChoose(kind)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}

interface ListProps {
  memories: Memories;
  searching: boolean;
  sharing: boolean;
}

function List({ memories, searching, sharing }: ListProps) {
  const { shown, refresh, more } = memories;
  if (shown === null) {
    return null;
  }
  return (
    <section className="card" aria-label="What is remembered">
      <p className="muted" role="status">
        {countWords(shown.memories.length, shown.total, searching)}
      </p>
      <ul className="rows">
        {shown.memories.map((memory) => (
          <MemoryItem
            key={memory.memory_id}
            memory={memory}
            sharing={sharing}
            onChanged={refresh}
          />
        ))}
      </ul>
      {shown.next !== "" && (
        <button type="button" className="button" onClick={more}>
          Show more
        </button>
      )}
    </section>
  );
}

function countWords(shown: number, total: number, searching: boolean): string {
  if (searching) {
    return shown === 0 ? "Nothing fits." : `${shown} that fit, the best first.`;
  }
  if (total === 0) {
    return "Nothing is remembered yet. It fills as you chat.";
  }
  return shown < total
    ? `The newest ${shown.toLocaleString()} of ${total.toLocaleString()}.`
    : `${total.toLocaleString()} in all, the newest first.`;
}
