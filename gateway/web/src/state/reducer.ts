// What does each thing that happens change in what the UI knows?

import type { Compaction, Error as ErrorFrame, ServerEvent } from "../wire/generated";
import type { Health, Models, SessionDetail, SessionView, Web } from "../wire/rest";
import { mergeHistory } from "./history";
import { type AppState, type Link, newSession, newTurn, type Session, type Turn } from "./model";
import { applyFrame, type TurnFrame } from "./turn";

export type Action =
  | { type: "link"; link: Link }
  | { type: "frames"; frames: readonly ServerEvent[]; at: number }
  | {
      type: "asked";
      queryId: string;
      sessionId: string;
      query: string;
      createdAt: string;
      /** The turn that it stands in for from here on, with all that followed. */
      inPlaceOf?: string;
      after?: string;
    }
  | { type: "asked_again"; queryId: string; sessionId: string }
  | { type: "withdrawn"; queryId: string; sessionId: string }
  | { type: "stopping"; queryId: string; sessionId: string }
  | { type: "approval_answered"; sessionId: string; approvalId: string; approved: boolean }
  | { type: "session_created"; sessionId: string; incognito: boolean }
  | { type: "session_loading"; sessionId: string }
  | { type: "session_loaded"; sessionId: string; detail: SessionDetail }
  | { type: "session_missing"; sessionId: string }
  | { type: "session_load_failed"; sessionId: string; message: string }
  | { type: "session_renamed"; sessionId: string; title: string }
  | { type: "session_deleted"; sessionId: string }
  | { type: "listed"; list: readonly SessionView[] }
  | { type: "models"; models: Models }
  | { type: "health"; health: Health }
  | { type: "web"; web: Web }
  | { type: "notice"; text: string }
  | { type: "notice_dismissed"; id: number };

export function reduce(state: AppState, action: Action): AppState {
  switch (action.type) {
    case "link":
      return {
        ...state,
        link: action.link,
        linkedBefore: state.linkedBefore || action.link === "open",
      };
    case "frames":
      return action.frames.reduce((now, frame) => reduceFrame(now, frame, action.at), state);
    case "asked":
      return ask(state, action);
    case "asked_again":
      return changeTurn(state, action.sessionId, action.queryId, (turn) =>
        turn.accepted ? turn : { ...turn, phase: "sending", error: null },
      );
    case "withdrawn":
      return changeTurn(state, action.sessionId, action.queryId, (turn) =>
        turn.phase === "sending" ? { ...turn, phase: "cancelled" } : turn,
      );
    case "stopping":
      return changeTurn(state, action.sessionId, action.queryId, (turn) =>
        turn.ending === null ? { ...turn, stopping: true } : turn,
      );
    case "approval_answered":
      return answerApproval(state, action.sessionId, action.approvalId, action.approved);
    case "session_created":
      return changeSession(state, action.sessionId, (session) => ({
        ...session,
        load: "ready",
        incognito: action.incognito,
      }));
    case "session_loading":
      return changeSession(state, action.sessionId, (session) =>
        session.load === "ready" ? session : { ...session, load: "loading" },
      );
    case "session_loaded":
      return changeSession(state, action.sessionId, (session) => ({
        ...session,
        load: "ready",
        turns: mergeHistory(session.id, session.turns, action.detail.turns),
        incognito: action.detail.session.incognito,
        summary: action.detail.summary,
      }));
    case "session_missing":
      return changeSession(state, action.sessionId, (session) => ({ ...session, load: "missing" }));
    case "session_load_failed":
      return changeSession(state, action.sessionId, (session) =>
        session.load === "ready"
          ? session
          : { ...session, load: "failed", loadError: action.message },
      );
    case "session_renamed":
      return changeList(state, (list) =>
        list.map((entry) =>
          entry.session_id === action.sessionId ? { ...entry, title: action.title } : entry,
        ),
      );
    case "session_deleted":
      return deleteSession(state, action.sessionId);
    case "listed":
      return { ...state, list: action.list.toSorted(newestFirst) };
    case "models":
      return { ...state, models: action.models };
    case "health":
      return { ...state, health: action.health };
    case "web":
      return { ...state, web: action.web };
    case "notice":
      return addNotice(state, action.text);
    case "notice_dismissed":
      return { ...state, notices: state.notices.filter((notice) => notice.id !== action.id) };
  }
}

// ---------------------------------------------------------------------------- frames

function reduceFrame(state: AppState, frame: ServerEvent, at: number): AppState {
  switch (frame.type) {
    case "pong":
      return state;
    case "context_updated":
      return { ...state, factChanges: state.factChanges + 1 };
    case "session_changed":
      return frame.change === "deleted" ? deleteSession(state, frame.session_id) : state;
    case "compaction":
      return reduceCompaction(state, frame);
    case "error":
      return reduceError(state, frame);
    default:
      return reduceTurnFrame(state, frame, at);
  }
}

// A summary that came is seen in the conversation; one that did not has to be told of.
function reduceCompaction(state: AppState, frame: Compaction): AppState {
  const { session_id: sessionId, state: now, message } = frame;
  const changed = changeSession(state, sessionId, (session) => ({
    ...session,
    compacting: now === "started",
  }));
  const told = (now === "failed" || now === "refused") && message !== "";
  return told ? addNotice(changed, message) : changed;
}

function reduceTurnFrame(state: AppState, frame: TurnFrame, at: number): AppState {
  const known = findTurn(state.sessions[frame.session_id], frame.query_id);
  if (known !== undefined) {
    return changeTurn(state, frame.session_id, frame.query_id, (turn) =>
      applyFrame(turn, frame, at),
    );
  }
  const turn = turnFromFrame(frame);
  if (turn === null || isElsewhere(state.sessions[frame.session_id], frame)) {
    return state;
  }
  return addTurn(state, applyFrame(turn, frame, at));
}

function ask(state: AppState, action: Extract<Action, { type: "asked" }>): AppState {
  const { queryId, sessionId, query, createdAt, inPlaceOf, after } = action;
  const turn = { ...newTurn({ queryId, sessionId, query, createdAt, phase: "sending" }), after };
  const place =
    state.sessions[sessionId]?.turns.findIndex((one) => one.queryId === inPlaceOf) ?? -1;
  if (place < 0) {
    return addTurn(state, turn);
  }
  return changeSession(state, sessionId, (session) => ({
    ...session,
    turns: [
      ...session.turns.slice(0, place),
      { ...turn, versions: [...(session.turns[place]?.versions ?? []), queryId] },
    ],
  }));
}

// Only these two hold the question, without which there is nothing to show.
function turnFromFrame(frame: TurnFrame): Turn | null {
  if (frame.type !== "accepted" && frame.type !== "snapshot") {
    return null;
  }
  return newTurn({
    queryId: frame.query_id,
    sessionId: frame.session_id,
    query: frame.query,
    createdAt: frame.created_at,
    phase: "accepted",
  });
}

/** An open turn of another branch than the one that is shown. */
function isElsewhere(session: Session | undefined, frame: TurnFrame): boolean {
  const last = session?.turns.at(-1)?.queryId ?? "";
  return frame.type === "snapshot" && session?.load === "ready" && frame.after !== last;
}

// A refused frame may name its turn without its session.
function reduceError(state: AppState, frame: ErrorFrame): AppState {
  const turn = frame.query_id === null ? undefined : findAnywhere(state, frame.query_id);
  if (turn === undefined) {
    return addNotice(state, frame.message);
  }
  const { code, message, retryable } = frame;
  return changeTurn(state, turn.sessionId, turn.queryId, (now) =>
    now.ending === null
      ? { ...now, phase: "failed", stopping: false, error: { code, message, retryable } }
      : now,
  );
}

// ---------------------------------------------------------------------------- helpers

export function findTurn(session: Session | undefined, queryId: string): Turn | undefined {
  return session?.turns.findLast((turn) => turn.queryId === queryId);
}

function findAnywhere(state: AppState, queryId: string): Turn | undefined {
  for (const session of Object.values(state.sessions)) {
    const turn = findTurn(session, queryId);
    if (turn !== undefined) {
      return turn;
    }
  }
  return undefined;
}

function changeSession(
  state: AppState,
  sessionId: string,
  change: (session: Session) => Session,
): AppState {
  const session = state.sessions[sessionId] ?? newSession(sessionId, "new");
  const changed = change(session);
  return changed === state.sessions[sessionId]
    ? state
    : { ...state, sessions: { ...state.sessions, [sessionId]: changed } };
}

function addTurn(state: AppState, turn: Turn): AppState {
  return changeSession(state, turn.sessionId, (session) =>
    findTurn(session, turn.queryId) === undefined
      ? { ...session, turns: [...session.turns, turn] }
      : session,
  );
}

function changeTurn(
  state: AppState,
  sessionId: string,
  queryId: string,
  change: (turn: Turn) => Turn,
): AppState {
  return changeSession(state, sessionId, (session) => {
    const index = session.turns.findLastIndex((turn) => turn.queryId === queryId);
    const turn = session.turns[index];
    if (turn === undefined) {
      return session;
    }
    const changed = change(turn);
    return changed === turn ? session : { ...session, turns: session.turns.with(index, changed) };
  });
}

function answerApproval(
  state: AppState,
  sessionId: string,
  approvalId: string,
  answered: boolean,
): AppState {
  return changeSession(state, sessionId, (session) => ({
    ...session,
    turns: session.turns.map((turn) => ({
      ...turn,
      approvals: turn.approvals.map((approval) =>
        approval.approvalId === approvalId ? { ...approval, here: answered } : approval,
      ),
    })),
  }));
}

function changeList(
  state: AppState,
  change: (list: readonly SessionView[]) => readonly SessionView[],
): AppState {
  return state.list === null ? state : { ...state, list: change(state.list) };
}

// Where it is shown, it is shown to be gone.
function deleteSession(state: AppState, sessionId: string): AppState {
  const listed = changeList(state, (list) =>
    list.filter((entry) => entry.session_id !== sessionId),
  );
  return sessionId in state.sessions
    ? changeSession(listed, sessionId, () => newSession(sessionId, "missing"))
    : listed;
}

function newestFirst(a: SessionView, b: SessionView): number {
  return Date.parse(b.updated_at) - Date.parse(a.updated_at);
}

function addNotice(state: AppState, text: string): AppState {
  const id = state.lastNotice + 1;
  return { ...state, lastNotice: id, notices: [...state.notices, { id, text }] };
}
