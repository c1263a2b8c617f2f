// What can be done with a chat in the list? Open, rename, sum up, delete.

import * as Menu from "@radix-ui/react-dropdown-menu";
import { Ellipsis, EyeOff, FoldVertical, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";

import { messageOf } from "../connection/rest";
import type { SessionView } from "../wire/rest";
import { useClient } from "./context";
import { Confirm } from "./modal";

interface SessionItemProps {
  entry: SessionView;
  current: boolean;
  onChosen: () => void;
}

type Doing = "nothing" | "renaming" | "deleting";

export function titleOf(entry: SessionView): string {
  return entry.title === "" ? "New chat" : entry.title;
}

export function SessionItem({ entry, current, onChosen }: SessionItemProps) {
  const client = useClient();
  const [doing, setDoing] = useState<Doing>("nothing");
  const done = () => setDoing("nothing");
  if (doing === "renaming") {
    return (
      <li className="session-item">
        <RenameField entry={entry} onDone={done} />
      </li>
    );
  }
  return (
    <li className="session-item" data-current={current}>
      <Link
        href={`/c/${encodeURIComponent(entry.session_id)}`}
        className="session-link"
        aria-current={current ? "page" : undefined}
        title={titleOf(entry)}
        onClick={onChosen}
      >
        <span className="session-title" dir="auto">
          {titleOf(entry)}
        </span>
        {entry.incognito && <EyeOff size={14} role="img" aria-label="incognito" />}
        {entry.running && <span className="running-dot" role="img" aria-label="answering" />}
      </Link>
      <ItemMenu
        title={titleOf(entry)}
        onChoose={setDoing}
        onCompact={() => client.compact(entry.session_id)}
      />
      {doing === "deleting" && <DeleteDialog entry={entry} current={current} onClose={done} />}
    </li>
  );
}

interface ItemMenuProps {
  title: string;
  onChoose: (doing: Doing) => void;
  onCompact: () => void;
}

function ItemMenu({ title, onChoose, onCompact }: ItemMenuProps) {
  return (
    // Not modal: the modal form adds a style element to the page, which the policy refuses.
    <Menu.Root modal={false}>
      <Menu.Trigger className="icon-button small session-menu" aria-label={`More about ${title}`}>
        <Ellipsis size={16} aria-hidden />
      </Menu.Trigger>
      <Menu.Content className="menu" align="end" sideOffset={4} collisionPadding={8}>
        <Menu.Item className="menu-item" onSelect={() => onChoose("renaming")}>
          <Pencil size={15} aria-hidden />
          Rename
        </Menu.Item>
        <Menu.Item className="menu-item" onSelect={onCompact}>
          <FoldVertical size={15} aria-hidden />
          Sum up older turns
        </Menu.Item>
        <Menu.Item className="menu-item danger" onSelect={() => onChoose("deleting")}>
          <Trash2 size={15} aria-hidden />
          Delete
        </Menu.Item>
      </Menu.Content>
    </Menu.Root>
  );
}

function RenameField({ entry, onDone }: { entry: SessionView; onDone: () => void }) {
  const client = useClient();
  const [title, setTitle] = useState(entry.title);
  const save = () => {
    const wanted = title.trim();
    onDone();
    if (wanted !== "" && wanted !== entry.title) {
      client
        .rename(entry.session_id, wanted)
        .catch((error: unknown) => client.notice(`Not renamed: ${messageOf(error)}`));
    }
  };
  return (
    <form
      className="rename"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <input
        aria-label="The chat's title"
        value={title}
        maxLength={200}
        // The user just asked to type here.
        // eslint-disable-next-line jsx-a11y/no-autofocus
        autoFocus
        onFocus={(event) => event.target.select()}
        onChange={(event) => setTitle(event.target.value)}
        onBlur={save}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            event.stopPropagation();
            onDone();
          }
        }}
      />
    </form>
  );
}

interface DeleteDialogProps {
  entry: SessionView;
  current: boolean;
  onClose: () => void;
}

function DeleteDialog({ entry, current, onClose }: DeleteDialogProps) {
  const client = useClient();
  const [, navigate] = useLocation();
  const remove = async () => {
    try {
      await client.remove(entry.session_id);
      if (current) {
        navigate("/");
      }
    } catch (error) {
      client.notice(`Not deleted: ${messageOf(error)}`);
    }
  };
  return (
    <Confirm
      title="Delete this chat?"
      text={`“${titleOf(entry)}” and all of its answers will be gone for good.`}
      action="Delete"
      onConfirm={() => void remove()}
      onClose={onClose}
    />
  );
}
