"""What does the gateway say of itself and of the participants? (GET /health)"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterable, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

from gateway.stack.rpc import Program
from gateway.stack.settings import Place

READY = "ready"


def fetch(place: Place, timeout_s: float = 2.0) -> dict[str, Any] | None:
    """The gateway's /health; None where nothing (or something else) answers."""
    body = get_json(place.url + "/health", timeout_s)
    return body if body is not None and isinstance(body.get("participants"), dict) else None


def get_json(url: str, timeout_s: float) -> dict[str, Any] | None:
    """A JSON object from a server, or None; never through a proxy."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=timeout_s)
    try:
        connection.request("GET", parts.path)
        body = json.loads(connection.getresponse().read(1_000_000))
    except (OSError, ValueError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    return cast("dict[str, Any]", body) if isinstance(body, dict) else None


def readiness(names: Iterable[str], programs: Iterable[Program], answer: Mapping[str, Any] | None) -> dict[str, str]:
    """Each program's state in one word: `ready`, what the participant says, or what supervisord says.

    The gateway is ready when it answers, and the proxy when anybody is, since nobody can be
    without it.
    """
    said = dict(answer["participants"]) if answer else {}
    if READY in said.values():
        said.setdefault("proxy", READY)
    if answer is not None:
        said.setdefault("gateway", READY)
    by_name = {program.name: program for program in programs}
    return {name: _word(by_name.get(name), said.get(name)) for name in names}


def _word(program: Program | None, said: Any) -> str:
    if program is None:
        return "unknown"
    if program.state in ("RUNNING", "STARTING"):
        return said if isinstance(said, str) else "starting"
    return program.state.lower()
