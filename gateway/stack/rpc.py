"""What does supervisord know, and how is it told what to do? (XML-RPC over its unix socket.)"""

from __future__ import annotations

import http.client
import socket
import xmlrpc.client
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self
from xml.parsers.expat import ExpatError

from gateway.stack.errors import StackError, Unreachable

_NOT_RUNNING, _ALREADY_STARTED = 70, 60
FAILED = frozenset({"BACKOFF", "EXITED", "FATAL"})
ACTIVE = frozenset({"STARTING", "RUNNING", "BACKOFF", "STOPPING"})


@dataclass(frozen=True)
class Program:
    """One program as supervisord sees it.

    Args:
        name: Its name.
        state: supervisord's word.
        pid: 0 where it does not run.
        up_s: 0 where it does not run.
        problem: Why it could not be started.
        logs: Where it writes: its output, and its errors where they go elsewhere.
    """

    name: str
    state: str
    pid: int
    up_s: int
    problem: str
    logs: tuple[Path, ...] = ()

    @property
    def active(self) -> bool:
        return self.state in ACTIVE

    @property
    def failed(self) -> bool:
        """Whether its last process ended without having been asked to."""
        return self.state in FAILED


class Changes(NamedTuple):
    """What the program files say now, against what supervisord knows; names of programs."""

    added: list[str]
    changed: list[str]
    removed: list[str]


class Supervisor:
    """The supervisord that listens on `path`.

    Args:
        path: Its unix socket.
        timeout_s: The longest that one call may take.
    """

    def __init__(self, path: Path, timeout_s: float = 5.0) -> None:
        self._proxy = xmlrpc.client.ServerProxy("http://localhost/RPC2", _Transport(path, timeout_s))

    def close(self) -> None:
        self._proxy("close")()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def pid(self) -> int:
        return int(self._call("getPID"))

    def programs(self) -> list[Program]:
        return [_program(info) for info in self._call("getAllProcessInfo")]

    def start(self, name: str) -> None:
        """Start one program; returns at once."""
        self._call(f"startProcess:{_ALREADY_STARTED}", name, False)

    def start_all(self) -> None:
        """Start every program that does not run; returns at once."""
        self._call("startAllProcesses", False)

    def stop(self, name: str) -> None:
        """Ask one program to stop; returns at once."""
        self._call(f"stopProcess:{_NOT_RUNNING}", name, False)

    def shutdown(self) -> None:
        self._call("shutdown")

    def compare(self) -> Changes:
        """Read the program files again; what is different in them. Nothing is started or stopped."""
        added, changed, removed = self._call("reloadConfig")[0]
        return Changes(added, changed, removed)

    def add(self, name: str) -> None:
        """Take in a program that is new in the files."""
        self._call("addProcessGroup", name)

    def remove(self, name: str) -> None:
        """Forget a program that is stopped."""
        self._call("removeProcessGroup", name)

    def _call(self, method: str, *args: Any) -> Any:
        name, _, harmless = method.partition(":")
        try:
            return getattr(self._proxy.supervisor, name)(*args)
        except xmlrpc.client.Fault as fault:
            if str(fault.faultCode) == harmless:
                return None
            raise StackError(f"supervisord refused {name}: {fault.faultString}") from fault
        except (OSError, http.client.HTTPException, xmlrpc.client.Error, ExpatError) as error:
            raise Unreachable(f"supervisord does not answer: {error}") from error


def _program(info: dict[str, Any]) -> Program:
    running = info["statename"] in ("RUNNING", "STARTING", "STOPPING")
    return Program(
        name=str(info["name"]),
        state=str(info["statename"]),
        pid=int(info["pid"]),
        up_s=max(0, int(info["now"]) - int(info["start"])) if running else 0,
        problem=str(info["spawnerr"] or ""),
        logs=tuple(Path(info[key]) for key in ("stdout_logfile", "stderr_logfile") if info.get(key)),
    )


class _Transport(xmlrpc.client.Transport):
    def __init__(self, path: Path, timeout_s: float) -> None:
        super().__init__()
        self._path, self._timeout_s = path, timeout_s

    def make_connection(self, host: Any) -> http.client.HTTPConnection:
        kept = self._connection[1]
        if kept is not None:
            return kept
        made = _UnixConnection(self._path, self._timeout_s)
        self._connection = host, made  # the base class closes it from here
        return made


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout_s: float) -> None:
        super().__init__("localhost", timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))
