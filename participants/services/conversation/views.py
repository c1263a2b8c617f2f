"""How do sessions and turns look to those who ask for them?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from msgspec.structs import replace

from bus import envelope as wire
from bus.messages.ledger import EndedTurn, SessionInfo, Step, TurnEnd, TurnInfo
from participants.services.conversation import texts
from participants.services.conversation.approval_rows import SavedApproval
from participants.services.conversation.ledger import OpenTurn
from participants.services.conversation.stage_rows import Stage
from participants.services.conversation.store import SavedSession, SavedTurn
from participants.services.conversation.texts import Draft

T = TypeVar("T", TurnInfo, EndedTurn)


def info(session: SavedSession, turns: int, running: bool) -> SessionInfo:
    """A session in a list."""
    return SessionInfo(
        session_id=session.session_id,
        title=session.title or texts.UNTITLED,
        created_at=session.created_at,
        updated_at=session.updated_at,
        turns=turns,
        running=running,
        persona=session.persona,
        incognito=session.incognito,
    )


def ended(saved: SavedTurn, stage: Stage) -> TurnInfo:
    """A turn with its end, and what was said of its answer since."""
    return TurnInfo(
        query_id=saved.ref.query_id,
        session_id=saved.ref.session_id,
        query=saved.query,
        created_at=saved.created_at,
        status=saved.state,
        attempt=saved.attempt,
        n=saved.n,
        end=saved.end or TurnEnd(status=saved.state, finish_reason="error"),
        grade=stage.grade,
        sentiment=stage.sentiment,
    )


def open_turn(
    turn: OpenTurn, position: int, draft: Draft, steps: Iterable[Step], approvals: Sequence[SavedApproval] = ()
) -> TurnInfo:
    """An open turn with what is journalled; `attempt` is the one that the text is of."""
    return TurnInfo(
        query_id=turn.ref.query_id,
        session_id=turn.ref.session_id,
        query=turn.query,
        created_at=turn.created_at,
        status=turn.state,
        position=position,
        attempt=draft.attempt or turn.attempt,
        n=draft.n,
        end=texts.so_far(turn.state, draft, steps),
        approvals=[approval.info for approval in approvals],
    )


def fit(turns: list[TurnInfo], room: int) -> list[TurnInfo]:
    """The turns, as one message can carry them: older ones first lose thinking and tool results, then go.

    Args:
        turns: Oldest first.
        room: Bytes.
    """
    out: list[TurnInfo] = []
    for turn in reversed(turns):
        small = fit_turn(turn, room)
        room -= _bytes(small)
        if room < 0:
            break
        out.append(small)
    out.reverse()
    return out


def fit_turn(turn: T, room: int) -> T:
    """The turn, without thinking and tool results where it would not fit."""
    if _bytes(turn) <= room:
        return turn
    return replace(turn, end=replace(turn.end, thinking="", tool_calls=[]))


def _bytes(turn: TurnInfo | EndedTurn) -> int:
    return len(wire.encode_payload(turn))
