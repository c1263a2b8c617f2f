// One memory: what it says, where it comes from, and how it is changed or forgotten.

import { type LucideIcon, Pencil, Trash2, Users } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";

import { messageOf, rest } from "../connection/rest";
import { kindWords, placeOf } from "../state/memories";
import type { MemoryView } from "../wire/rest";
import { useClient } from "./context";
import { Confirm } from "./modal";

interface MemoryItemProps {
  memory: MemoryView;
  onChanged: () => void;
}

interface Sharing {
  /** Whether users may share memories here. */
  sharing: boolean;
}

type Doing = "nothing" | "editing" | "forgetting" | "sharing";

export function MemoryItem({ memory, sharing, onChanged }: MemoryItemProps & Sharing) {
  const client = useClient();
  const [doing, setDoing] = useState<Doing>("nothing");
  const done = () => setDoing("nothing");
  const forget = () => {
    rest
      .forgetMemory(memory.memory_id)
      .then(onChanged)
      .catch((error: unknown) => client.notice(`Not forgotten: ${messageOf(error)}`));
  };
  const share = (shared: boolean) => {
    rest
      .shareMemory(memory.memory_id, shared)
      .then(onChanged)
      .catch((error: unknown) => client.notice(`Not changed: ${messageOf(error)}`));
  };
  return (
    <li className="memory">
      {doing === "editing" ? (
        <Editor memory={memory} onChanged={onChanged} onDone={done} />
      ) : (
        <p className="memory-text" dir="auto">
          {memory.text}
        </p>
      )}
      <About memory={memory} />
      {memory.own && (
        <div className="memory-actions">
          {(sharing || memory.shared) && (
            <Action
              name={`Share with all users: ${memory.text}`}
              title={memory.shared ? "Share no more" : "Share with all users"}
              icon={Users}
              pressed={memory.shared}
              onClick={() => (memory.shared ? share(false) : setDoing("sharing"))}
            />
          )}
          <Action
            name={`Change: ${memory.text}`}
            title="Change"
            icon={Pencil}
            onClick={() => setDoing("editing")}
          />
          <Action
            name={`Forget: ${memory.text}`}
            title="Forget"
            icon={Trash2}
            onClick={() => setDoing("forgetting")}
          />
        </div>
      )}
      {doing === "sharing" && (
        <Confirm
          title="Share this?"
          text={`Everybody who uses this LoCAL2 may recall ${quoted(memory)}, until you share it no more.`}
          action="Share"
          onConfirm={() => share(true)}
          onClose={done}
        />
      )}
      {doing === "forgetting" && (
        <Confirm
          title="Forget this?"
          text={`“${memory.text}” will be gone for good, with the insights made of it. The chat stays.`}
          action="Forget"
          onConfirm={forget}
          onClose={done}
        />
      )}
    </li>
  );
}

interface ActionProps {
  name: string;
  title: string;
  icon: LucideIcon;
  pressed?: boolean;
  onClick: () => void;
}

function Action({ name, title, icon: Icon, pressed, onClick }: ActionProps) {
  return (
    <button
      type="button"
      className="icon-button small"
      aria-label={name}
      aria-pressed={pressed}
      title={title}
      onClick={onClick}
    >
      <Icon size={14} aria-hidden />
    </button>
  );
}

function About({ memory }: { memory: MemoryView }) {
  const place = placeOf(memory);
  return (
    <p className="memory-about">
      <span className="tag">{kindWords(memory.kind)}</span>
      {memory.intent !== "" && <span>{memory.intent}</span>}
      <time dateTime={memory.created_at}>{dayOf(memory.created_at)}</time>
      {memory.reason !== "" && <span dir="auto">{memory.reason}</span>}
      {memory.sources.length > 0 && <span>made of {memory.sources.length} chats</span>}
      {memory.critic_score !== null && <span>critic {memory.critic_score}/5</span>}
      {memory.sentiment !== 0 && (
        <span>{memory.sentiment > 0 ? "you liked it" : "you did not like it"}</span>
      )}
      {memory.untrusted && (
        <span title="Never taken for instructions">with content from outside</span>
      )}
      {memory.shared && (
        <span>{memory.own ? "shared with all users" : "shared by another user"}</span>
      )}
      {place !== null && <Link href={place}>its chat</Link>}
    </p>
  );
}

interface EditorProps extends MemoryItemProps {
  onDone: () => void;
}

function Editor({ memory, onChanged, onDone }: EditorProps) {
  const client = useClient();
  const [text, setText] = useState(memory.text);
  const save = async () => {
    try {
      await rest.editMemory(memory.memory_id, text.trim());
      onDone();
      onChanged();
    } catch (error) {
      client.notice(`Not changed: ${messageOf(error)}`);
    }
  };
  return (
    <form
      className="memory-editor"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <textarea
        className="input"
        dir="auto"
        aria-label="What is remembered"
        rows={3}
        maxLength={4000}
        value={text}
        // The user just asked to type here.
        // eslint-disable-next-line jsx-a11y/no-autofocus
        autoFocus
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            event.stopPropagation();
            onDone();
          }
        }}
      />
      <div className="button-row">
        <button type="submit" className="button small primary" disabled={text.trim() === ""}>
          Save
        </button>
        <button type="button" className="button small" onClick={onDone}>
          Cancel
        </button>
      </div>
    </form>
  );
}

/** All that others get to see. */
function quoted({ query, text }: MemoryView): string {
  return query === "" ? `“${text}”` : `“${query}” with “${text}”`;
}

function dayOf(iso: string): string {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? "" : date.toLocaleDateString();
}
