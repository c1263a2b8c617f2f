"""How does a tool ask its user before it acts?

The ledger keeps each request: it outlives every process, and counts once. Whoever answers the turn opens
it and takes what was approved; its user decides.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Struct

from bus import subjects
from bus.messages.base import Message, about

ApprovalState = Literal["open", "approved", "taken", "denied", "expired", "void"]


class ApprovalInfo(Struct, frozen=True, kw_only=True):
    """One request: this call, with exactly these arguments."""

    approval_id: Annotated[str, about("Made from the call's id, the tool and the arguments.", min_length=1)]
    call_id: Annotated[str, about("The call that waits for it.", min_length=1)]
    tool: Annotated[str, about("The tool's name.", min_length=1)]
    args: Annotated[dict[str, Any], about("The exact arguments.")]
    reason: Annotated[str, about("Why the user is asked, in words.")] = ""
    opened_at: Annotated[str, about("ISO 8601.")] = ""
    expires: Annotated[str, about("When it counts as denied, ISO 8601.")] = ""
    state: Annotated[
        ApprovalState,
        about("open; approved; taken (approved, and used); denied; expired; void (the turn ended, or asks otherwise)."),
    ] = "open"


class Approval(Message, frozen=True):
    """A request as it stands."""

    SUBJECT = subjects.INBOX

    approval: Annotated[ApprovalInfo, about("The request.")]
    session_id: Annotated[str, about("The conversation of its turn.")] = ""
    query_id: Annotated[str, about("Its turn.")] = ""


class OpenApproval(Message, frozen=True):
    """Ask the user (envelope: query_id). The same approval_id again changes nothing. Answered by `Approval`.

    Refused with `conflict` where the turn is somebody else's, or the id belongs to another call.
    """

    SUBJECT = "conversation.approval.open"

    fence: Annotated[int, about("From the claim.")]
    approval_id: Annotated[str, about("Made from the call's id, the tool and the arguments.")]
    call_id: Annotated[str, about("The call that waits for it.")]
    tool: Annotated[str, about("The tool's name.")]
    args: Annotated[dict[str, Any], about("The exact arguments.")]
    reason: Annotated[str, about("Why the user is asked, in words.")] = ""


class DecideApproval(Message, frozen=True):
    """The user's answer (envelope: user_id). The first one counts. Answered by `Approval` as it stands then.

    Refused with `not_found` where it is another user's, or there is none.
    """

    SUBJECT = "conversation.approval.decide"

    approval_id: Annotated[str, about("The request.")]
    approved: Annotated[bool, about("Whether the call may run with exactly these arguments, once.")]


class GetApproval(Message, frozen=True):
    """Ask for a request as it stands (envelope: user_id). Answered by `Approval`."""

    SUBJECT = "conversation.approval.get"

    approval_id: Annotated[str, about("The request.")]


class TakeApproval(Message, frozen=True):
    """Use up what was approved, just before the call is sent (envelope: query_id). Answered by `Done`.

    Refused with `conflict` where it is not approved, or another attempt has taken it: the call may have run then.
    """

    SUBJECT = "conversation.approval.take"

    fence: Annotated[int, about("From the claim; the same one may take it again.")]
    approval_id: Annotated[str, about("The request.")]


class ApprovalRequest(Message, frozen=True):
    """A call waits for its user."""

    SUBJECT = subjects.TOOL_APPROVAL_REQUEST

    approval: Annotated[ApprovalInfo, about("The request.")]


class ApprovalResult(Message, frozen=True):
    """A request was decided, or needs no answer any more."""

    SUBJECT = subjects.TOOL_APPROVAL_RESULT

    approval_id: Annotated[str, about("The request.")]
    call_id: Annotated[str, about("The call that waited for it.")]
    tool: Annotated[str, about("The tool's name.")]
    state: Annotated[ApprovalState, about("approved, denied, expired or void.")]
