"""Which errors of the bus and of the configuration does a caller act on?"""

from __future__ import annotations


class Local2Error(Exception):
    """The root of what LoCAL2 raises on purpose; its text is fit for a user."""


class ConfigError(Local2Error):
    """A yaml file cannot be used.

    Args:
        file: The file, or the environment variable.
        key: The dotted key; empty where the whole file is meant.
        expected: What would be right.
    """

    def __init__(self, file: str, key: str, expected: str) -> None:
        super().__init__(f"{file}: {key}: {expected}" if key else f"{file}: {expected}")
        self.file, self.key, self.expected = file, key, expected


class EnvelopeError(Local2Error):
    """Bytes from the bus are no envelope, or the payload is not what its type says."""


class RequestTimeout(Local2Error):
    """Nobody answered a request in time."""

    def __init__(self, subject: str, timeout_s: float) -> None:
        super().__init__(f"no answer to {subject!r} within {timeout_s:g} s")
        self.subject, self.timeout_s = subject, timeout_s


class RequestFailed(Local2Error):
    """A service answered a request with a refusal.

    Args:
        code: A stable word to act on, such as `conflict` or `not_found`.
        message: What happened and what to do about it.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class BusUnavailable(Local2Error):
    """The bus cannot be reached or opened."""
