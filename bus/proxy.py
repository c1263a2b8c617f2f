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
from bus.process import end_with_parent, supervisor, take_lock

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

    The C loop never returns to Python, so it has a thread of its own. This one reads the monitor all the time:
    libzmq writes there without a limit in time, and a full or closed monitor stops the whole bus.

    Raises:
        BusUnavailable: Another proxy runs on this home, or an address is taken.
    """
    if config.transport == "tcp" and not config.host.startswith("127."):
        raise BusUnavailable(f"bus.yaml: host {config.host!r} is no loopback address: others could listen and speak")
    signals = _signals()
    lock = take_lock("proxy")
    context = zmq.Context()
    publishers, subscribers = context.socket(zmq.XSUB), context.socket(zmq.XPUB)
    control, steer = context.socket(zmq.PAIR), context.socket(zmq.PAIR)
    for socket in (publishers, subscribers):
        socket.linger = 0
        socket.sndhwm = socket.rcvhwm = config.high_water_mark
        socket.maxmsgsize = config.max_message_bytes
    monitor = subscribers.get_monitor_socket(zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED)
    control.bind("inproc://control")
    steer.connect("inproc://control")
    bind(publishers, config.publish_to())
    bind(subscribers, config.subscribe_to())
    carrier = threading.Thread(target=zmq.proxy_steerable, args=(publishers, subscribers, None, control))
    carrier.start()
    _wait_for_the_end(signals, monitor)
    steer.send(b"TERMINATE")
    carrier.join()
    subscribers.disable_monitor()
    for socket in (publishers, subscribers, control, steer, monitor):
        socket.close(0)
    context.term()
    lock.close()


def _signals() -> int:
    """A descriptor that becomes readable with each SIGTERM or SIGINT."""
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    signal.set_wakeup_fd(writable)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: None)
    return readable


def _wait_for_the_end(signals: int, monitor: zmq.Socket[bytes]) -> None:
    """Return after a signal, once the last participant has left or for a while none did; after a second one at once."""
    poller = zmq.Poller()
    poller.register(signals, zmq.POLLIN)
    poller.register(monitor, zmq.POLLIN)
    connected, asked = 0, 0
    while asked < 2:
        events = dict(poller.poll(None if not asked else _LAST_WORDS_MS if connected > 0 else 0))
        if asked and not events:
            return
        if signals in events:
            asked += len(os.read(signals, 64))
        if monitor in events:
            event = parse_monitor_message(monitor.recv_multipart())["event"]
            connected += 1 if event == zmq.EVENT_ACCEPTED else -1


def main() -> int:
    """Entry point of the process."""
    end_with_parent(supervisor())
    try:
        run(load("bus", BusConfig))
    except Local2Error as error:
        sys.stderr.write(f"proxy: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
