"""How can starting or stopping a stack fail, and which exit code does each way have?"""

from __future__ import annotations

from enum import IntEnum

from bus.errors import Local2Error


class ExitCode(IntEnum):
    """What `local2` leaves with; a user's scripts may rely on them (see docs/reference/cli.md)."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NOT_RUNNING = 3
    OTHER_SETTINGS = 4
    PORT_TAKEN = 5
    NO_SPACE = 6
    NO_MODEL = 7
    INTERRUPTED = 130


class StackError(Local2Error):
    """Something that a user has to know, with what to do about it.

    Args:
        message: What happened.
        hint: What to do about it; may be empty.
        code: The exit code that tells it from others.
    """

    def __init__(self, message: str, hint: str = "", code: ExitCode = ExitCode.FAILED) -> None:
        super().__init__(message)
        self.message, self.hint, self.code = message, hint, code


class Unreachable(StackError):
    """No supervisord answers on this home's socket."""
