"""What of a tool's answer is kept, and what is the model told where there is none?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from msgspec.structs import replace

from bus.messages.ledger import ToolRecord
from bus.messages.tool import Policies, ToolResult

_TOOLS_OWN = frozenset({"ok", "disabled", "unavailable", "invalid_arguments", "timeout", "cancelled", "failed"})
"""What a tool may say of itself. That it was denied or that it crashed is for others to say."""
_SCHEMES = frozenset({"http", "https", "library"})
_MOST_SOURCES = 20
_LONGEST_TITLE = 200
_LONGEST_URL = 2000
_LONGEST_ID = 200


def taken(record: ToolRecord, result: ToolResult, policies: Policies) -> ToolRecord:
    """The call with what its tool answered, within bounds."""
    return replace(
        record,
        outcome=result.outcome if result.outcome in _TOOLS_OWN else "failed",
        result=cut(result.result, policies.max_result_chars),
        sources=sources(result.sources),
        untrusted=policies.untrusted or result.untrusted,
    )


def cut(text: str, limit: int) -> str:
    """At most `limit` characters; what was cut is said."""
    return text if len(text) <= limit else f"{text[:limit]}\n[cut here: {len(text) - limit} more characters]"


def sources(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The sources that a user may be shown: so many, so long, and each a page, a document or a memory."""
    kept = (_source(source) for source in found)
    return [source for source in kept if source is not None][:_MOST_SOURCES]


def _source(source: dict[str, Any]) -> dict[str, Any] | None:
    title, url = _line(source.get("title"), _LONGEST_TITLE), source.get("url")
    if isinstance(url, str) and is_link(url):
        return {"title": title or url[:_LONGEST_TITLE], "url": url}
    ids = {name: _line(source.get(name), _LONGEST_ID) for name in ("memory_id", "session_id", "query_id")}
    return {"title": title, "url": "", **ids} if ids["memory_id"] else None


def is_link(url: str) -> bool:
    """Whether a link leads to a page or to a document of the library, whatever it is shown in."""
    if len(url) > _LONGEST_URL or not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in _SCHEMES and bool(parts.netloc or parts.scheme == "library")


def _line(text: Any, limit: int) -> str:
    return " ".join(text.split())[:limit] if isinstance(text, str) else ""


# ---------------------------------------------------------------------- without an answer


def ended(record: ToolRecord, outcome: str, words: str) -> ToolRecord:
    """The call as one that the tool gave no answer to."""
    return replace(record, outcome=outcome, result=words)


def timed_out(record: ToolRecord, timeout_s: float) -> ToolRecord:
    """Silence up to the deadline, whatever the reason."""
    return ended(
        record, "timeout", f"{record.tool} gave no answer within {timeout_s:g} s. Go on without it, and say so."
    )


def crashed(record: ToolRecord) -> ToolRecord:
    """Its process died."""
    return ended(
        record,
        "crashed",
        f"{record.tool} crashed during the call; whether it did anything is unknown. Go on without it, and say so.",
    )


def lost(record: ToolRecord) -> ToolRecord:
    """We were restarted during the call, and it must not run twice."""
    words = "The outcome of this call is unknown: the assistant was restarted meanwhile, and it is not run twice."
    return ended(record, "crashed", words)


def not_approved(record: ToolRecord, state: str) -> ToolRecord:
    """Its user did not want it, or did not answer."""
    why = {"denied": "The user denied this call.", "expired": "The user did not answer in time, which is a no."}
    words = f"{why.get(state, 'This call was not approved.')} It was not run. Do not try it in another way."
    return ended(record, "denied", words)


def surplus(record: ToolRecord, limit: int) -> ToolRecord:
    """One call too many in one message."""
    words = f"Not run: one message may hold {limit} calls. Use the results of the others first, then call again."
    return ended(record, "failed", words)


def repeated(record: ToolRecord, times: int) -> ToolRecord:
    """The same call again and again."""
    words = f"Not run: the same call was made {times} times in this turn. Use the result that there is."
    return ended(record, "failed", words)
