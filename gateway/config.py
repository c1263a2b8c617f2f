"""What may be set in gateway.yaml?"""

from __future__ import annotations

import ipaddress
from typing import Annotated

from msgspec import Meta

from bus.config import Section
from gateway.auth import is_origin


class GatewayConfig(Section, frozen=True, kw_only=True):
    """gateway.yaml: the web page, REST and WebSocket."""

    host: Annotated[
        str, Meta(description="The loopback address to listen on: 127.0.0.1, ::1 or localhost. Needs a restart.")
    ] = "127.0.0.1"
    port: Annotated[int, Meta(description="0 takes a free one. Needs a restart.", ge=0, le=65535)] = 7800
    allowed_origins: Annotated[
        tuple[str, ...], Meta(description="Further pages that may talk to this server, such as http://localhost:5173.")
    ] = ()
    max_sockets: Annotated[int, Meta(description="Open chat sockets at once.", ge=1)] = 200
    max_observers: Annotated[int, Meta(description="Open bus observers at once.", ge=0)] = 8
    max_frame_bytes: Annotated[
        int,
        Meta(description="A larger WebSocket frame is refused with words; over 16 MiB it closes the socket.", ge=1024),
    ] = 1_048_576
    max_body_bytes: Annotated[int, Meta(description="A larger HTTP body is refused.", ge=1024)] = 1_048_576
    max_pending: Annotated[int, Meta(description="Requests of one socket that wait for an answer at once.", ge=1)] = 64
    max_watched: Annotated[int, Meta(description="Sessions that one socket follows; the oldest idle goes.", ge=1)] = 200
    queue_frames: Annotated[
        int, Meta(description="Frames that wait for a slow client; then it gets a snapshot instead.", ge=16)
    ] = 2000
    queue_bytes: Annotated[int, Meta(description="The same in bytes.", ge=65_536)] = 8_388_608
    observer_queue: Annotated[int, Meta(description="Messages that wait for a slow bus observer.", ge=16)] = 1000
    submit_timeout_s: Annotated[float, Meta(description="How long a question may take to be accepted.", gt=0)] = 10.0
    silence_s: Annotated[float, Meta(description="An open turn silent for so long is looked up.", ge=0.01)] = 2.0

    def __post_init__(self) -> None:
        if not is_loopback(self.host):
            raise ValueError(f"host: only this machine is served yet: 127.0.0.1, ::1 or localhost, not {self.host!r}")
        for origin in self.allowed_origins:
            if not is_origin(origin):
                raise ValueError(f"allowed_origins: expected such as http://localhost:5173, got {origin!r}")


def is_loopback(host: str) -> bool:
    """Whether `host` is a name or an address of this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
