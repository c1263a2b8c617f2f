"""Can a stack start here at all? Each check raises with words that say what to do."""

from __future__ import annotations

import errno
import shutil
import socket
import sys
from pathlib import Path

from bus.command import local2
from gateway.stack.errors import ExitCode, StackError
from gateway.stack.settings import Place

_OLDEST = (3, 11)
_NEEDED_BYTES = 50_000_000


def check_python(version: tuple[int, int] = sys.version_info[:2]) -> None:
    """Raises: StackError for a Python that is too old."""
    if version < _OLDEST:
        found = ".".join(map(str, version))
        raise StackError(
            f"LoCAL2 needs Python 3.11 or newer; this is {found}.", "Install a newer Python, then start again."
        )


def check_space(folder: Path, needed_bytes: int = _NEEDED_BYTES) -> None:
    """Raises: StackError where the disk is as good as full: stores and logs could not be written."""
    free = shutil.disk_usage(folder).free
    if free < needed_bytes:
        raise StackError(
            f"Only {free // 1_000_000} MB are left for {folder}; at least {needed_bytes // 1_000_000} are needed.",
            "Free some space, or set LOCAL2_HOME to a folder on another disk.",
            ExitCode.NO_SPACE,
        )


def check_port(place: Place) -> None:
    """Raises: StackError where somebody else listens there, or where we may not."""
    with socket.socket(place.family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((place.host, place.port))
        except OSError as error:
            raise StackError(*_port_words(place.port, error), ExitCode.PORT_TAKEN) from error


def _port_words(port: int, error: OSError) -> tuple[str, str]:
    if error.errno == errno.EACCES:
        return (
            f"Port {port} may not be used without more rights.",
            f"Choose one from 1024 up: {local2('--web-port 7801')}",
        )
    if error.errno != errno.EADDRINUSE:
        return f"Port {port} cannot be used: {error.strerror}.", f"Choose another one: {local2('--web-port 7801')}"
    who = listener(port)
    other = port + 1 if port < 65535 else port - 1
    return (
        f"Port {port} is taken{f' by {who}' if who else ''}.",
        f"End that program, or choose another port: {local2(f'--web-port {other}')}",
    )


def listener(port: int) -> str:
    """Name and pid of who listens on `port`; empty where the system does not tell."""
    import psutil  # only when it is needed for words

    try:
        for connection in psutil.net_connections("tcp"):
            if connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port:
                return f"{psutil.Process(connection.pid).name()} (pid {connection.pid})" if connection.pid else ""
    except (psutil.Error, OSError):
        pass
    return ""
