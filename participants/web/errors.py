"""What can go wrong on the way to a web server, as far as a tool tells it apart."""

from __future__ import annotations

from bus.errors import Local2Error


class WebError(Local2Error):
    """No answer was had; the text says why, for the model."""


class Refused(WebError):
    """The address is one that we do not connect to."""


class Unreachable(WebError):
    """Nobody answered there: no such name, no connection, no usable protocol."""


class TooSlow(WebError):
    """The answer did not begin in time."""
