// What stands beside the conversation? The other ones, and the way to the other pages.

import { Activity, Brain, PanelLeftClose, Settings, SquarePen } from "lucide-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";

import type { AppState } from "../state/model";
import { useAppState } from "./context";
import { Logo } from "./logo";
import { useModal, whenClosed } from "./modal";
import { SearchHits, useSearch } from "./search";
import { SessionItem } from "./session-item";
import { ThemeSwitch } from "./theme-switch";
import { useSessionId } from "./use-session-id";

interface SidebarProps {
  onClose: () => void;
  /** Called when something was chosen: the drawer closes, the column stays. */
  onChosen: () => void;
}

export function Sidebar({ onClose, onChosen }: SidebarProps) {
  const [words, setWords] = useState("");
  const found = useSearch(words);
  return (
    <div className="sidebar">
      <div className="sidebar-top">
        <Link href="/" className="brand" onClick={onChosen}>
          <Logo />
          LoCAL2
        </Link>
        <button
          type="button"
          className="icon-button"
          aria-label="Close the sidebar"
          title="Close the sidebar"
          onClick={onClose}
        >
          <PanelLeftClose size={18} aria-hidden />
        </button>
      </div>
      <Link href="/" className="new-chat" onClick={onChosen}>
        <SquarePen size={17} aria-hidden />
        New chat
      </Link>
      <input
        type="search"
        className="search side"
        aria-label="Search the chats"
        placeholder="Search"
        maxLength={500}
        value={words}
        onChange={(event) => setWords(event.target.value)}
      />
      <nav aria-label="Chats" className="session-nav">
        {found === null ? (
          <SessionList onChosen={onChosen} />
        ) : (
          <SearchHits found={found} onChosen={onChosen} />
        )}
      </nav>
      <div className="sidebar-foot">
        <nav aria-label="Pages">
          <PageLink href="/memory" onChosen={onChosen} icon={<Brain size={17} aria-hidden />}>
            Memory
          </PageLink>
          <PageLink href="/status" onChosen={onChosen} icon={<Activity size={17} aria-hidden />}>
            Status
          </PageLink>
          <PageLink href="/settings" onChosen={onChosen} icon={<Settings size={17} aria-hidden />}>
            Settings
          </PageLink>
        </nav>
        <ThemeSwitch />
      </div>
    </div>
  );
}

function PageLink(props: {
  href: string;
  icon: React.ReactNode;
  children: string;
  onChosen: () => void;
}) {
  const [location] = useLocation();
  return (
    <Link
      href={props.href}
      className="page-link"
      aria-current={location === props.href ? "page" : undefined}
      onClick={props.onChosen}
    >
      {props.icon}
      {props.children}
    </Link>
  );
}

const listOf = (state: AppState) => state.list;

function SessionList({ onChosen }: { onChosen: () => void }) {
  const list = useAppState(listOf);
  const current = useSessionId();
  if (list === null) {
    return <ListSkeleton />;
  }
  if (list.length === 0) {
    return <p className="session-none">Your chats will be listed here.</p>;
  }
  return (
    <ul className="session-list">
      {list.map((entry) => (
        <SessionItem
          key={entry.session_id}
          entry={entry}
          current={entry.session_id === current}
          onChosen={onChosen}
        />
      ))}
    </ul>
  );
}

function ListSkeleton() {
  return (
    <div className="session-skeleton" aria-hidden>
      <span className="skeleton" />
      <span className="skeleton" />
      <span className="skeleton" />
    </div>
  );
}

/** The sidebar at phone size. */
export function Drawer({ onClose }: { onClose: () => void }) {
  const dialog = useModal();
  return (
    // The backdrop is not an element: a click on it is one on the dialog itself. Escape does the same.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/click-events-have-key-events
    <dialog
      ref={dialog}
      className="drawer"
      aria-label="Chats and pages"
      onClose={(event) => whenClosed(event, onClose)}
      onClick={(event) => {
        if (event.target === event.currentTarget) {
          onClose();
        }
      }}
    >
      <Sidebar onClose={onClose} onChosen={onClose} />
    </dialog>
  );
}
