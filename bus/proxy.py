"""What carries every message from its sender to all who listen?

`zmq.proxy` between an XSUB and an XPUB socket, in a process of its own; it knows nothing of the messages.
`python -m bus.proxy` starts it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import zmq
from zmq.utils.monitor import parse_monitor_message

from bus.config import BusConfig, load
from bus.errors import BusUnavailable, Local2Error
from bus.process import end_with_parent, take_lock

_STOP = {signal.SIGTERM, signal.SIGINT}
_LAST_WORDS_MS = 1000
"""The proxy stops last: after SIGTERM it waits so long for the next one to leave, then it goes."""


def bind(socket: zmq.Socket[bytes], address: str) -> None:
    """Bind, after the lock says that no other proxy lives: only then is a left-over ipc file ours to replace.

    Raises:
        BusUnavailable: The address cannot be bound; the text says why.
    """
    if address.startswith("ipc://"):
        Path(address.removeprefix("ipc://")).unlink(missing_ok=True)
    try:
        socket.bind(address)
    except zmq.ZMQError as error:
        raise BusUnavailable(f"the bus cannot listen on {address}: {error.strerror}") from error


def run(config: BusConfig) -> None:
    """Carry messages until SIGTERM or SIGINT.

    Raises:
        BusUnavailable: Another proxy runs on this home, or an address is taken.
    """
    if config.transport == "tcp" and not config.host.startswith("127."):
        raise BusUnavailable(f"bus.yaml: host {config.host!r} is no loopback address: others could listen and speak")
    lock = take_lock("proxy")
    context = zmq.Context()
    publishers, subscribers, control = context.socket(zmq.XSUB), context.socket(zmq.XPUB), context.socket(zmq.PAIR)
    for socket in (publishers, subscribers):
        socket.linger = 0
        socket.sndhwm = socket.rcvhwm = config.high_water_mark
        socket.maxmsgsize = config.max_message_bytes
    bind(publishers, config.publish_to())
    bind(subscribers, config.subscribe_to())
    control.bind("inproc://control")
    _stop_on_signals(context, subscribers)
    zmq.proxy_steerable(publishers, subscribers, None, control)
    subscribers.disable_monitor()
    context.destroy(0)
    lock.close()


def _stop_on_signals(context: zmq.Context[zmq.Socket[bytes]], subscribers: zmq.Socket[bytes]) -> None:
    """The C loop never returns to Python, so a thread waits for the signal and ends it."""
    monitor = subscribers.get_monitor_socket(zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED)

    def wait() -> None:
        signal.sigwait(_STOP)
        _last_words(monitor)
        steer = context.socket(zmq.PAIR)
        steer.connect("inproc://control")
        steer.send(b"TERMINATE")
        steer.close()

    threading.Thread(target=wait, name="signals", daemon=True).start()


def _last_words(monitor: zmq.Socket[bytes]) -> None:
    """Return when the last participant has left, or when for a while none did."""
    connected = 0
    while monitor.poll(0 if connected <= 0 else _LAST_WORDS_MS):
        event = parse_monitor_message(monitor.recv_multipart())["event"]
        connected += 1 if event == zmq.EVENT_ACCEPTED else -1
        if connected <= 0 and not monitor.poll(0):
            break
    monitor.close(0)


def main() -> int:
    """Entry point of the process."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOP)  # before any thread starts: one that lacks the mask would be ended
    end_with_parent(os.getppid())
    try:
        run(load("bus", BusConfig))
    except Local2Error as error:
        sys.stderr.write(f"proxy: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
