"""How does a participant log?

One record a line on standard output, where supervisord collects and rotates it: JSON, or
coloured on a terminal. Events are constants, values are fields. No text of a user at info level.
"""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


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
    last: list[Any] = (
        [structlog.dev.ConsoleRenderer()]
        if sys.stdout.isatty()
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    )
    structlog.configure(
        processors=[*shared, *last],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=structlog.PrintLoggerFactory(sys.stdout),
        cache_logger_on_first_use=True,
    )
    structlog.contextvars.bind_contextvars(participant=participant)
