"""How does a participant log?

One record a line on standard output, where supervisord collects and rotates it: JSON, or
coloured on a terminal. Events are constants, values are fields. No text of a user at info level.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from typing import Any, TextIO, cast

import structlog

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


class Output:
    """Standard output for log records: what cannot be written is lost, and stops nobody.

    supervisord reads it through a pipe. Once that is broken, as when supervisord was killed, nothing that anybody
    prints in this process can be read any more.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> None:
        """Write, where that is possible."""
        try:
            self._file.write(text)
        except BrokenPipeError:
            self._let_go()
        except (OSError, ValueError):
            return

    def flush(self) -> None:
        """Write what is held back, where that is possible."""
        try:
            self._file.flush()
        except BrokenPipeError:
            self._let_go()
        except (OSError, ValueError):
            return

    def _let_go(self) -> None:
        """Else the interpreter would fail at its end with what it still holds back."""
        with contextlib.suppress(OSError, ValueError):
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, self._file.fileno())
            os.close(nothing)


def configure(participant: str, level: str) -> None:
    """Set up logging for this process, once.

    Args:
        participant: The program's name, on every record.
        level: debug, info, warning or error.
    """
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last: list[Any] = (  # with rich installed, structlog would print the values of all variables: users' text
        [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
        if sys.stdout.isatty()
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    )
    structlog.configure(
        processors=[*shared, *last],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=structlog.PrintLoggerFactory(cast("TextIO", Output(sys.stdout))),
        cache_logger_on_first_use=True,
    )
    structlog.contextvars.bind_contextvars(participant=participant)
