"""Which requests are refused before anything is looked at, and in which words?"""

from __future__ import annotations

from bus import envelope as wire
from bus.envelope import Envelope, TurnRef
from bus.errors import RequestFailed
from bus.messages.approval import OpenApproval
from bus.messages.ledger import ClaimTurn, TurnEnd
from bus.messages.persona import NO_PERSONA
from bus.messages.query import SubmitTurn
from participants.services.conversation.config import ConversationConfig
from participants.services.conversation.texts import one_line
from participants.services.conversation.transitions import ENDS

_ID_CHARS = 200
_NAME_CHARS = 200
_ATTACHMENTS_BYTES = 100_000
_APPROVAL_ID_CHARS = 500
_APPROVAL_BYTES = 200_000


def no_session(session_id: str) -> RequestFailed:
    """There is none, or it is another user's: who asks cannot tell which."""
    return RequestFailed("not_found", f"There is no conversation {session_id[:_ID_CHARS]!r}.")


def no_turn(query_id: str) -> RequestFailed:
    """There is none, or it is another user's."""
    return RequestFailed("not_found", f"There is no turn {query_id[:_ID_CHARS]!r}.")


def over(query_id: str, code: str) -> RequestFailed:
    """The turn has ended."""
    return RequestFailed(code, f"Turn {query_id!r} is over; drop it.")


def owner(ref: TurnRef, request: Envelope) -> None:
    """Refuse a turn of another user.

    Raises:
        RequestFailed: `not_found`.
    """
    if ref.user_id != request.user_id:
        raise no_turn(ref.query_id)


def new_session(request: Envelope) -> TurnRef:
    """The session and user that a request names; a session without an id gets the request's, which a repeat shares.

    Raises:
        RequestFailed: `bad_request`: an id that cannot be one.
    """
    session_id = request.session_id or request.message_id
    for name, value in (("session_id", session_id), ("user_id", request.user_id or "-")):
        _check_id(name, value)
    return TurnRef(session_id, request.user_id)


def new_turn(request: Envelope) -> TurnRef:
    """The same for a turn.

    Raises:
        RequestFailed: `bad_request`: an id that cannot be one.
    """
    query_id = request.query_id or request.message_id
    _check_id("query_id", query_id)
    session = new_session(request)
    return TurnRef(session.session_id, session.user_id, query_id)


def _check_id(name: str, value: str) -> None:
    if len(value) > _ID_CHARS or not value.isprintable():
        raise RequestFailed("bad_request", f"{name} must be at most {_ID_CHARS} printable characters.")


def question(message: SubmitTurn, rules: ConversationConfig) -> None:
    """Refuse what cannot be answered.

    Raises:
        RequestFailed: `bad_query`, `query_too_long` or `bad_request`.
    """
    if not message.query.strip():
        raise RequestFailed("bad_query", "The question is empty: type one.")
    if len(message.query) > rules.query_chars:
        raise RequestFailed(
            "query_too_long",
            f"The question has {len(message.query)} characters, {rules.query_chars} are allowed: "
            f"shorten it, or add the text to the library and ask about it.",
        )
    if len(message.model) > _NAME_CHARS:
        raise RequestFailed("bad_request", f"model is a name of at most {_NAME_CHARS} characters.")
    persona(message.persona)
    if message.attachments and len(wire.encode_payload(message.attachments)) > _ATTACHMENTS_BYTES:
        raise RequestFailed("bad_request", "attachments holds references to stored files, not the files.")


def incognito(is_so: bool, *, asked: bool) -> None:
    """Refuse to go on incognito where it was not begun so.

    Raises:
        RequestFailed: `bad_request`.
    """
    if asked and not is_so:
        raise RequestFailed(
            "bad_request", "This conversation is remembered already: begin a new one to be incognito in it."
        )


def room(open_turns: int, rules: ConversationConfig) -> None:
    """Refuse one question too many.

    Raises:
        RequestFailed: `too_many`.
    """
    if open_turns >= rules.max_open:
        raise RequestFailed(
            "too_many",
            f"{open_turns} questions of this conversation wait for an answer: let some be answered, or stop them.",
        )


def holder(message: ClaimTurn) -> None:
    """Refuse a nameless holder.

    Raises:
        RequestFailed: `bad_request`.
    """
    if not message.holder or max(len(message.holder), len(message.name)) > _NAME_CHARS:
        raise RequestFailed("bad_request", "holder must be the boot id of the claiming process.")


def end(value: TurnEnd) -> None:
    """Refuse an end that is none.

    Raises:
        RequestFailed: `bad_request`.
    """
    if value.status not in ENDS:
        raise RequestFailed("bad_request", f"status must be answered, failed or cancelled, not {value.status[:50]!r}.")


def approval(message: OpenApproval) -> None:
    """Refuse what no user could be asked.

    Raises:
        RequestFailed: `bad_request`.
    """
    if not message.approval_id or len(message.approval_id) > _APPROVAL_ID_CHARS:
        raise RequestFailed("bad_request", f"approval_id must have 1 to {_APPROVAL_ID_CHARS} characters.")
    if len(wire.encode_payload(message)) > _APPROVAL_BYTES:
        raise RequestFailed("bad_request", "The arguments are too long for somebody to read and approve them.")


def persona(text: str) -> str:
    """A persona's name as it is stored: empty where none is wanted. Whether there is one, others know.

    Raises:
        RequestFailed: `bad_request`.
    """
    name = text.strip()
    if len(name) > _NAME_CHARS or not name.isprintable():
        raise RequestFailed("bad_request", f"A persona's name has at most {_NAME_CHARS} printable characters.")
    return "" if name.casefold() in NO_PERSONA else name


def title(text: str) -> str:
    """A title as it is stored.

    Raises:
        RequestFailed: `bad_title`.
    """
    line = one_line(text)
    if not line:
        raise RequestFailed("bad_title", "A title needs at least one character that can be seen.")
    return line[:_NAME_CHARS]
