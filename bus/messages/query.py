"""How does a question enter, and who tells that it is its turn?"""

from __future__ import annotations

from typing import Annotated, Any

from bus import subjects
from bus.messages.base import Message, about


class SubmitTurn(Message, frozen=True):
    """Ask the ledger to accept a question. The same query_id twice is one turn. Answered by `TurnAccepted`.

    session_id, user_id and query_id stand in the envelope. Refused with `bad_request` where an ordinary session is to
    go on incognito: what was said in it is remembered already. One that is incognito stays so, whatever is said here.
    """

    SUBJECT = "conversation.submit"

    query: Annotated[str, about("The question, as typed.")]
    model: Annotated[str, about("A role or a model's name; empty for the default role.")] = ""
    persona: Annotated[str, about("A persona's name, from this turn on; `default` for none, empty to leave it.")] = ""
    after: Annotated[
        str | None, about("The turn that this one follows, on a branch of its own; empty: none. Null: the last shown.")
    ] = None
    attachments: Annotated[list[dict[str, Any]], about("References to stored attachments.")] = []
    incognito: Annotated[
        bool, about("For a new session: nothing of it is remembered, and nothing is recalled in it.")
    ] = False


class TurnAccepted(Message, frozen=True):
    """The turn is committed."""

    SUBJECT = subjects.INBOX

    query_id: Annotated[str, about("The turn's id.")]
    session_id: Annotated[str, about("The conversation, made if there was none.")]
    created_at: Annotated[str, about("When it was first accepted.")]
    position: Annotated[int, about("How many turns come before it; 0 when it is being answered.")]
    status: Annotated[str, about("Its status; other than `received` where this was a repeated submit.")] = "received"
    query: Annotated[str, about("Where this was a repeated submit: the question as it was accepted first.")] = ""


class QueryReceived(Message, frozen=True):
    """A turn may be answered now. A hint: who answers claims it from the ledger."""

    SUBJECT = subjects.QUERY_RECEIVED

    query: Annotated[str, about("The question, as typed.")]
    created_at: Annotated[str, about("When it was accepted.")]
    redelivered: Annotated[bool, about("Whether this event was sent before.")] = False
    incognito: Annotated[bool, about("Whether nothing may be recalled or kept.")] = False


class TurnQueued(Message, frozen=True):
    """A waiting turn's position changed."""

    SUBJECT = "conversation.queued"

    position: Annotated[int, about("How many turns come before it.")]


class CancelTurn(Message, frozen=True):
    """Ask the ledger to stop a turn (envelope: query_id, user_id). Answered by `Done`; the turn's end follows."""

    SUBJECT = "conversation.cancel"
