"""`local2 searxng`: how does web_search get a SearXNG that only this machine can reach?"""

from __future__ import annotations

import shlex
import time
from argparse import Namespace

from bus.command import local2
from gateway import web_access
from gateway.cli import console
from gateway.stack import layout as places
from gateway.stack import processes, tell
from gateway.stack import searxng as own
from gateway.stack.errors import ExitCode, StackError
from gateway.stack.searxng_probe import NOT_RUNNING, ask

_UP_LIMIT_S = 90.0
_POLL_S = 0.5


def searxng(options: Namespace) -> int:
    """Start it, stop it, or say how it is."""
    return {"up": _up, "down": _down, "status": _status}[options.action](options)


def _up(options: Namespace) -> int:
    files = own.files()
    _write(files, options.port)
    try:
        engine = own.engine()
    except StackError as error:
        command = f"docker compose -f {shlex.quote(str(files.compose))} up -d"
        hint = f"{error.hint} Then: {local2('searxng up')}, or yourself: {command}"
        raise StackError(f"{error.message}, so SearXNG cannot be started from here.", hint) from error
    own.compose(engine, files, "up", "-d", "--force-recreate")  # else a changed settings.yml is not read
    url = files.url()
    if url is None:
        console.say(
            f"{files.compose} does not say in a plain way where it listens: set web_search.yaml's url yourself."
        )
        return ExitCode.OK
    _point_there(url)
    return _say(url, _wait(url))


def _write(files: own.Files, port: int | None) -> None:
    if port is not None and not 1 <= port <= 65535:
        raise StackError(f"{port} is no port: choose one from 1024 to 65535.", code=ExitCode.USAGE)
    written = files.write(port or own.PORT)
    for path in (files.compose, files.settings):
        console.say(f"{path}: {'written' if path in written else 'there already, and left as it is'}")
    if port is not None and files.compose not in written:
        console.say(f"  --port counts only before that file is there: change its `ports` to use {port}.")


def _point_there(url: str) -> None:
    other = own.point_there(url)
    if other is not None:
        console.complain(f"web_search.yaml names another SearXNG, {other}: that stays.", f"To use this one: url: {url}")
    elif processes.running_pid(places.current()) is not None:
        tell.reload([own.SECTION])


def _wait(url: str) -> str:
    console.say(f"Waiting for SearXNG at {url}")
    deadline = time.monotonic() + _UP_LIMIT_S
    while (fault := ask(url)) and time.monotonic() < deadline and _may_come(fault):
        time.sleep(_POLL_S)
    return fault


def _may_come(fault: str) -> bool:
    """A container that starts refuses connections, or drops them; what SearXNG itself says stays so."""
    return fault == NOT_RUNNING or fault.startswith("It cannot be reached")


def _down(_: Namespace) -> int:
    files = own.files()
    if not files.compose.exists():
        console.say("SearXNG was not set up here.")
        return ExitCode.OK
    own.compose(own.engine(), files, "down")
    console.say(f"Stopped. Its files stay in {files.folder}")
    return ExitCode.OK


def _status(_: Namespace) -> int:
    url = own.configured_url() or own.files().url() or f"http://127.0.0.1:{own.PORT}"
    return _say(url, ask(url))


def _say(url: str, fault: str) -> int:
    if not fault:
        console.say(f"SearXNG answers at {url}, in JSON.")
        if not web_access.read().enabled:
            console.say(f"The web is off, so web_search does not ask it. To turn it on: {local2('setup --web on')}")
        return ExitCode.OK
    files = own.files()
    mine = f" ({files.settings})" if files.settings.exists() and files.url() == url else ""
    absent = fault == NOT_RUNNING
    hint = f"To start one: {local2('searxng up')}" if absent else ""
    console.complain(f"SearXNG at {url}: {fault.replace('settings.yml', f'settings.yml{mine}')}", hint)
    return ExitCode.NOT_RUNNING if absent else ExitCode.FAILED
