"""What does supervisord know, and how is it woken? (XML-RPC over its unix socket.)

All calls block: they belong into the offload pool. supervisord looks after its children once a second,
and after each call: calls are what wakes it.
"""

from __future__ import annotations

import http.client
import re
import socket
import threading
import xmlrpc.client
from pathlib import Path
from typing import Any, cast
from xml.parsers.expat import ExpatError

from bus.errors import Local2Error
from participants.services.ops.decide import Program

_ALREADY_STARTED = 60
_LOG_TAIL = 4000
_ENDED = r"(?:exited|stopped): {name} \((exit status \d+|terminated by \w+)"


class SupervisorSilent(Local2Error):
    """supervisord cannot be reached, or refuses; the text says why."""


class Supervisor:
    """The supervisord that listens on `path`. One call at a time, over one connection.

    Args:
        path: Its unix socket.
        timeout_s: The longest that one call may take.
    """

    def __init__(self, path: Path, timeout_s: float = 5.0) -> None:
        self._lock = threading.Lock()
        self._proxy = xmlrpc.client.ServerProxy("http://localhost/RPC2", _Transport(path, timeout_s))

    def programs(self) -> dict[str, Program]:
        """All programs by name."""
        rows = [program_of(row) for row in self._call("getAllProcessInfo")]
        return {row.name: row for row in rows}

    def program(self, full_name: str) -> Program:
        """One program. supervisord reaps or respawns just after it has answered."""
        return program_of(self._call("getProcessInfo", full_name))

    def cause(self, full_name: str, pid: int) -> str:
        """How the process `pid` of a program ended, in words; empty while supervisord has not noticed.

        The first call lets supervisord reap it, the next one start another. Only its log names a signal.
        """
        self.program(full_name)
        program = self.program(full_name)
        if program.pid == pid:
            return ""
        return ending(program.name, str(self._call("readLog", -_LOG_TAIL, 0))) or program.problem

    def start(self, full_name: str) -> None:
        """Start a program that was given up; returns at once."""
        self._call("startProcess", full_name, False, harmless=_ALREADY_STARTED)

    def close(self) -> None:
        """Close the connection."""
        self._proxy("close")()

    def _call(self, method: str, *args: Any, harmless: int = 0) -> Any:
        try:
            with self._lock:
                return getattr(self._proxy.supervisor, method)(*args)
        except xmlrpc.client.Fault as fault:
            if fault.faultCode == harmless:
                return None
            raise SupervisorSilent(f"supervisord refused {method}: {fault.faultString}") from fault
        except (OSError, http.client.HTTPException, xmlrpc.client.Error, ExpatError) as error:
            self.close()
            raise SupervisorSilent(f"supervisord does not answer: {error}") from error


def program_of(row: Any) -> Program:
    """A row of getAllProcessInfo."""
    name, group = str(row["name"]), str(row["group"])
    return Program(
        name=name,
        full_name=name if name == group else f"{group}:{name}",
        state=str(row["statename"]),
        pid=int(row["pid"]),
        up_s=max(0, int(row["now"]) - int(row["start"])) if row["pid"] else 0,
        exit_status=int(row["exitstatus"]),
        problem=str(row["spawnerr"]),
    )


def ending(name: str, log: str) -> str:
    """The last ending of `name` in supervisord's log: `killed by SIGKILL`, `exit status 1`; empty for none."""
    endings = cast("list[str]", re.findall(_ENDED.format(name=re.escape(name)), log))
    return endings[-1].replace("terminated by", "killed by") if endings else ""


class _Transport(xmlrpc.client.Transport):
    def __init__(self, path: Path, timeout_s: float) -> None:
        super().__init__()
        self._path, self._timeout_s = path, timeout_s
        self._socket: _UnixConnection | None = None

    def make_connection(self, host: Any) -> http.client.HTTPConnection:
        if self._socket is None:
            self._socket = _UnixConnection(self._path, self._timeout_s)
        return self._socket

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout_s: float) -> None:
        super().__init__("localhost", timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))
