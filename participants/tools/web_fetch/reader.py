"""How is a body read without trusting it? In a child process with limits: see `read`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from pathlib import Path

import msgspec

import participants
from participants.tools.base import ToolFailed
from participants.tools.web_fetch.read import Job
from participants.tools.web_fetch.result import Page

_ROOT = Path(participants.__file__).resolve().parent.parent
_MODULE = "participants.tools.web_fetch.read"
_LONGEST_ANSWER = 32 * 1024 * 1024


async def read_apart(body: bytes, content_type: str, url: str, seconds: float) -> Page:
    """The page in `body`.

    Raises:
        ToolFailed: It could not be read within the limits.
    """
    job = Job(url=url, content_type=content_type[:200], cpu_s=max(1, round(seconds)))
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        _MODULE,
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env=_environment(),
        limit=_LONGEST_ANSWER,
    )
    try:
        async with asyncio.timeout(seconds):
            answer = await _answer(child, msgspec.json.encode(job) + b"\n" + body)
    except TimeoutError as error:
        raise ToolFailed(f"This page takes longer than {seconds:g} s to read. Try another source.") from error
    finally:
        await _end(child)
    try:
        return msgspec.json.decode(answer, type=Page)
    except msgspec.DecodeError as error:
        raise ToolFailed("This page is too large or too broken to be read. Try another source.") from error


def _environment() -> dict[str, str]:
    """What an interpreter needs to find our modules, and nothing that is secret."""
    kept = ("PATH", "LANG", "LC_ALL", "VIRTUAL_ENV", "HOME", "SYSTEMROOT")
    return {name: os.environ[name] for name in kept if name in os.environ} | {"PYTHONPATH": str(_ROOT)}


async def _answer(child: Process, data: bytes) -> bytes:
    assert child.stdin is not None  # noqa: S101  both were asked for
    assert child.stdout is not None  # noqa: S101
    with contextlib.suppress(ConnectionError):  # it ended before it had read all
        child.stdin.write(data)
        await child.stdin.drain()
        child.stdin.close()
    out = bytearray()
    while part := await child.stdout.read(1 << 16):
        out += part
        if len(out) > _LONGEST_ANSWER:
            return b""
    return bytes(out)


async def _end(child: Process) -> None:
    if child.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
    await child.wait()
