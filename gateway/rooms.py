"""Who watches which session?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gateway.config import GatewayConfig
from gateway.outbox import Key
from gateway.socket import Socket, View


class Rooms:
    """All sockets, by the sessions that they watch.

    Args:
        config: Asked for at each use, so that a reload takes effect.
    """

    def __init__(self, config: Callable[[], GatewayConfig]) -> None:
        self.sockets: set[Socket] = set()
        self.on_empty: Callable[[Key], None] = lambda _key: None
        self._config = config
        self._rooms: dict[Key, list[Socket]] = {}

    def watchers(self, key: Key) -> Sequence[Socket]:
        """The sockets that watch a session; empty where nobody does."""
        return self._rooms.get(key, ())

    def of_user(self, user: str) -> list[Socket]:
        """The sockets of a user, whatever they watch."""
        return [socket for socket in self.sockets if socket.user == user]

    def join(self, socket: Socket) -> None:
        """A client has come."""
        self.sockets.add(socket)

    def leave(self, socket: Socket) -> None:
        """A client has gone; its turns go on."""
        socket.alive = False
        self.sockets.discard(socket)
        for key in list(socket.views):
            self._unwatch(socket, key)

    def watch(self, socket: Socket, key: Key) -> View:
        """From here on this socket gets the session's events."""
        view = socket.views.get(key)
        if view is None:
            view = socket.views[key] = View()
            self._rooms[key] = [*self._rooms.get(key, ()), socket]
            self._let_go(socket, key)
        socket.views.move_to_end(key)
        return view

    def _let_go(self, socket: Socket, new: Key) -> None:
        idle = [key for key, view in socket.views.items() if key != new and not view.gates and not view.resuming]
        if len(socket.views) > self._config().max_watched and idle:
            self._unwatch(socket, idle[0])

    def _unwatch(self, socket: Socket, key: Key) -> None:
        socket.views.pop(key, None)
        left = [other for other in self._rooms.get(key, ()) if other is not socket]
        if left:
            self._rooms[key] = left
        else:
            self._rooms.pop(key, None)
            self.on_empty(key)
