"""Which requests are refused before anything is looked at, and in which words?"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from bus.envelope import Envelope
from bus.errors import RequestFailed
from bus.messages.memory import Memory

_ID_CHARS = 200
_QUERY_CHARS = 4000
_TEXT_CHARS = 4000
_NAME_CHARS = 200
_MOST_NAMES = 32
KINDS = ("fact", "engram", "insight")


def user(request: Envelope) -> str:
    """Whose memory is meant.

    Raises:
        RequestFailed: `bad_request`: nobody's, or an id that cannot be one.
    """
    user_id = request.user_id
    if not user_id.strip() or len(user_id) > _ID_CHARS or not user_id.isprintable():
        raise RequestFailed("bad_request", f"user_id must have 1 to {_ID_CHARS} printable characters.")
    return user_id


def turn(request: Envelope) -> str:
    """Which turn is meant.

    Raises:
        RequestFailed: `bad_request`: none.
    """
    if not request.query_id or len(request.query_id) > _ID_CHARS:
        raise RequestFailed("bad_request", "query_id must name a turn.")
    return request.query_id


def kind(text: str) -> str:
    """A kind, or empty for all.

    Raises:
        RequestFailed: `bad_request`.
    """
    if text and text not in KINDS:
        raise RequestFailed("bad_request", f"kind must be one of {', '.join(KINDS)}, not {text[:50]!r}.")
    return text


def not_found() -> RequestFailed:
    """There is none, or it is another user's: who asks cannot tell which."""
    return RequestFailed("not_found", "There is no such memory (any more).")


def clean(text: str, most: int = _TEXT_CHARS) -> str:
    """A text as it is kept: without what cannot be shown or stored, and not longer than is allowed."""
    shown = "".join(c for c in text if c.isprintable() or c in "\n\t")
    return shown.encode("utf-8", "ignore").decode().strip()[:most]


def kept(memory: Memory) -> Memory:
    """A memory as it is kept.

    Raises:
        RequestFailed: `bad_request`: there is nothing in it.
    """
    text = clean(memory.text)
    if not text:
        raise RequestFailed("bad_request", "There is no text to remember.")
    return replace(
        memory,
        text=text,
        query=clean(memory.query),
        reason=clean(memory.reason),
        intent=clean(memory.intent, _NAME_CHARS),
        entities=_names(memory.entities),
        critic_score=score(memory.critic_score),
        sentiment=max(-1, min(1, memory.sentiment)),
        score=0.0,
        sources=memory.sources if memory.kind == "insight" else [],
    )


def score(value: int | None) -> int | None:
    """A critic's score; none where it cannot be one."""
    return value if value is not None and 1 <= value <= 5 else None


def _names(names: Sequence[str]) -> list[str]:
    found = (clean(name, _NAME_CHARS) for name in names[:_MOST_NAMES])
    return list(dict.fromkeys(name for name in found if name))


def imported(memory: Memory) -> Memory:
    """A memory of an export, as it may be kept.

    Raises:
        RequestFailed: `bad_request`: it cannot be one.
    """
    if memory.kind not in KINDS:
        raise RequestFailed("bad_request", f"kind must be one of {', '.join(KINDS)}, not {memory.kind[:50]!r}.")
    return replace(kept(memory), shared=False)
