// Which page does an address show, and what stands around it?

import { PanelLeft, SquarePen } from "lucide-react";
import { lazy, Suspense, useEffect, useState } from "react";
import { Link, Redirect, Route, Switch, useLocation } from "wouter";

import type { AppState } from "../state/model";
import { ChatPage, NewChatPage } from "./chat-page";
import { AwayBanner, DemoChip, LinkChip } from "./chips";
import { IncognitoChip } from "./incognito";
import { type Local2, Local2Context, useAppState } from "./context";
import { Notices } from "./notices";
import { titleOf } from "./session-item";
import { Drawer, Sidebar } from "./sidebar";
import { useAway } from "./use-away";
import { PHONE, useMedia } from "./use-media";
import { useSessionId } from "./use-session-id";

const StatusPage = lazy(() => import("./status-page"));
const MemoryPage = lazy(() => import("./memory-page"));
const SettingsPage = lazy(() => import("./settings-page"));

export function App({ local2 }: { local2: Local2 }) {
  return (
    <Local2Context value={local2}>
      <Frame />
      <Notices store={local2.store} />
    </Local2Context>
  );
}

function Frame() {
  const away = useAway();
  const [column, setColumn] = useState(true);
  const [drawer, setDrawer] = useState(false);
  const phone = useMedia(PHONE);
  const shown = !phone && column;
  return (
    <div className="app" data-sidebar={shown} data-away={away}>
      {shown && (
        <aside className="side-column" aria-label="Chats and pages">
          <Sidebar onClose={() => setColumn(false)} onChosen={() => undefined} />
        </aside>
      )}
      {phone && drawer && <Drawer onClose={() => setDrawer(false)} />}
      <div className="stage">
        <TopBar
          away={away}
          sidebarShown={shown}
          onSidebar={() => (phone ? setDrawer(true) : setColumn(true))}
        />
        {away && <AwayBanner />}
        <Pages />
      </div>
    </div>
  );
}

function Pages() {
  return (
    <Suspense fallback={<main className="page" aria-busy="true" />}>
      <Switch>
        <Route path="/">
          <NewChatPage />
        </Route>
        <Route path="/c/:sessionId">
          {({ sessionId }) => <ChatPage key={sessionId} sessionId={sessionId} />}
        </Route>
        <Route path="/status">
          <StatusPage />
        </Route>
        <Route path="/memory">
          <MemoryPage />
        </Route>
        <Route path="/settings">
          <SettingsPage />
        </Route>
        <Route>
          <Redirect to="/" replace />
        </Route>
      </Switch>
    </Suspense>
  );
}

interface TopBarProps {
  away: boolean;
  sidebarShown: boolean;
  onSidebar: () => void;
}

function TopBar({ away, sidebarShown, onSidebar }: TopBarProps) {
  const title = useTitle();
  return (
    <header className="top-bar">
      {!sidebarShown && (
        <>
          <button
            type="button"
            className="icon-button"
            aria-label="Open the sidebar"
            title="Open the sidebar"
            onClick={onSidebar}
          >
            <PanelLeft size={18} aria-hidden />
          </button>
          <Link href="/" className="icon-button" aria-label="New chat" title="New chat">
            <SquarePen size={17} aria-hidden />
          </Link>
        </>
      )}
      <div className="top-title" dir="auto">
        {title !== "" && <h1>{title}</h1>}
      </div>
      <IncognitoChip />
      <LinkChip away={away} />
      <DemoChip />
    </header>
  );
}

/** Names the browser's tab; returns the chat's title, since the other pages have their own heading. */
function useTitle(): string {
  const [location] = useLocation();
  const sessionId = useSessionId();
  const entry = useAppState((state: AppState) =>
    state.list?.find((candidate) => candidate.session_id === sessionId),
  );
  const chat = entry === undefined ? "" : titleOf(entry);
  const title = PAGE_TITLES[location] ?? chat;
  useEffect(() => {
    document.title = title === "" ? "LoCAL2" : `${title} · LoCAL2`;
  }, [title]);
  return chat;
}

const PAGE_TITLES: Record<string, string> = {
  "/memory": "Memory",
  "/status": "Status",
  "/settings": "Settings",
};
