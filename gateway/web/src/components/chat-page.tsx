// What does a user see at `/` and at `/c/{session_id}`?

import { useEffect, useState } from "react";
import { Link, useLocation } from "wouter";

import { messageOf } from "../connection/rest";
import type { AppState, Session } from "../state/model";
import { answeringHost } from "../state/place";
import { activeTurn } from "../state/selectors";
import { DemoBanner, NoModelBanner } from "./chips";
import { Composer } from "./composer";
import { useAppState, useClient } from "./context";
import { Conversation } from "./conversation";
import { IncognitoSwitch } from "./incognito";
import { useStickToBottom } from "./use-stick-to-bottom";
import { WebHint } from "./web-switch";
import { Welcome } from "./welcome";

const isConnected = (state: AppState) => state.link === "open";

export function NewChatPage() {
  const client = useClient();
  const connected = useAppState(isConnected);
  const [, navigate] = useLocation();
  const [incognito, setIncognito] = useState(false);
  useEffect(() => client.open(null), [client]);

  const send = async (text: string) => {
    try {
      const sessionId = await client.createSession(incognito);
      client.ask(sessionId, text);
      navigate(`/c/${encodeURIComponent(sessionId)}`);
      return true;
    } catch (error) {
      client.notice(messageOf(error));
      return false;
    }
  };
  return (
    <main className="chat empty">
      <Welcome disabled={!connected} onSuggestion={(text) => void send(text)} />
      <div className="column hints">
        <IncognitoSwitch on={incognito} onChange={setIncognito} />
        <DemoBanner />
        <WebHint />
      </div>
      <div className="column dock">
        <NoModelBanner />
        <Composer
          sessionId={null}
          connected={connected}
          running={false}
          onSend={send}
          onStop={() => undefined}
        />
        <FinePrint />
      </div>
    </main>
  );
}

export function ChatPage({ sessionId }: { sessionId: string }) {
  const client = useClient();
  const session = useAppState((state) => state.sessions[sessionId]);
  useEffect(() => client.open(sessionId), [client, sessionId]);
  if (session?.load === "missing") {
    return <Missing />;
  }
  if (session === undefined || (session.turns.length === 0 && session.load !== "ready")) {
    return <Loading session={session} />;
  }
  return <OpenChat session={session} />;
}

function OpenChat({ session }: { session: Session }) {
  const client = useClient();
  const connected = useAppState(isConnected);
  const active = activeTurn(session);
  const stick = useStickToBottom(session.id, active !== undefined);
  const send = (text: string) => {
    client.ask(session.id, text);
    stick.toEnd();
    return true;
  };
  return (
    <main className="chat">
      <Conversation session={session} stick={stick} />
      <div className="column dock">
        <NoModelBanner />
        <Composer
          key={session.id}
          sessionId={session.id}
          connected={connected}
          running={active !== undefined}
          onSend={send}
          onStop={() => {
            if (active !== undefined) {
              client.stopTurn(active);
            }
          }}
        />
        <FinePrint />
      </div>
    </main>
  );
}

const hostOf = (state: AppState) => answeringHost(state.models);

function FinePrint() {
  const host = useAppState(hostOf);
  return (
    <p className="fine-print">
      {host === "" ? "" : `The model runs on ${host}. `}Answers can be wrong: check what matters.
    </p>
  );
}

function Missing() {
  return (
    <main className="chat centred">
      <h1>This chat does not exist</h1>
      <p className="muted">It may have been deleted, here or in another tab.</p>
      <Link href="/" className="button primary">
        Start a new chat
      </Link>
    </main>
  );
}

function Loading({ session }: { session: Session | undefined }) {
  const client = useClient();
  if (session?.load !== "failed") {
    return (
      <main className="chat" aria-busy="true" aria-label="Loading the chat">
        <div className="column turns loading" aria-hidden>
          <span className="skeleton right" />
          <span className="skeleton" />
          <span className="skeleton" />
          <span className="skeleton short" />
        </div>
      </main>
    );
  }
  return (
    <main className="chat centred">
      <h1>This chat could not be loaded</h1>
      <p className="muted">{session.loadError}</p>
      <button type="button" className="button primary" onClick={() => client.reload(session.id)}>
        Try again
      </button>
    </main>
  );
}
