"""In which states can a turn be while it is answered, and what moves it?"""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """Where one turn is."""

    IDLE = "IDLE"
    RECEIVING = "RECEIVING"
    GENERATING = "GENERATING"
    DISPATCHING_TOOL = "DISPATCHING_TOOL"
    AWAITING_RESULT = "AWAITING_RESULT"
    AWAITING_APPROVAL = "AWAITING_APPROVAL"
    PUBLISHING = "PUBLISHING"
    DONE = "DONE"
    CANCELLED = "CANCELLED"
    FAILED = "FAILED"


class Action(StrEnum):
    """What happens to one turn."""

    RECEIVE = "RECEIVE"
    GENERATE = "GENERATE"
    DISPATCH_TOOL = "DISPATCH_TOOL"
    AWAIT_RESULT = "AWAIT_RESULT"
    ASK_APPROVAL = "ASK_APPROVAL"
    APPROVAL_RESULT = "APPROVAL_RESULT"
    TOOL_RESULT = "TOOL_RESULT"
    TOOL_TIMEOUT = "TOOL_TIMEOUT"
    RETRY = "RETRY"
    PUBLISH = "PUBLISH"
    FINISH = "FINISH"
    CANCEL = "CANCEL"
    FAIL = "FAIL"
