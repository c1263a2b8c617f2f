"""What must the listening socket be like?"""

from __future__ import annotations

import socket

from gateway.server import listen


def test_small_frames_do_not_wait_for_an_acknowledgement() -> None:
    """asyncio turns off Nagle's algorithm only where the socket names its protocol."""
    with listen("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP
