"""A log that cannot be written stops nobody."""

from __future__ import annotations

import asyncio
import os
import sys

import pytest

from participants.logs import Output
from tests.support.stage import ROOT

_PROGRAM = """
import sys
import structlog
from participants import logs
logs.configure("test", "info")
sys.stdin.readline()
for _ in range(3):
    structlog.get_logger().info("said", text="x" * 100_000)
print("and somebody prints")
"""


async def test_a_reader_that_is_gone_is_no_failure() -> None:
    reader, writer = os.pipe()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        _PROGRAM,
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=writer,
        stderr=asyncio.subprocess.PIPE,
    )
    os.close(writer)
    os.close(reader)
    _, errors = await process.communicate(b"go\n")
    assert (process.returncode, errors) == (0, b"")


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("I/O operation on closed file")])
def test_what_cannot_be_written_is_lost(error: Exception) -> None:
    class Full:
        def write(self, _text: str) -> None:
            raise error

        def flush(self) -> None:
            raise error

    output = Output(Full())  # pyright: ignore[reportArgumentType]  all that it uses
    output.write("record")
    output.flush()
