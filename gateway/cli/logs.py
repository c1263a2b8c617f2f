"""`local2 logs`: what do the participants write, in a form that can be read?"""

from __future__ import annotations

import json
import time
from argparse import Namespace
from pathlib import Path
from typing import Any, cast

from gateway.cli import console
from gateway.stack import layout as places
from gateway.stack.errors import ExitCode, StackError
from gateway.stack.processes import tail

_POLL_S = 0.25
_HEAD = ("timestamp", "level", "event")
_COLOURS = {"warning": "warn", "error": "bad", "critical": "bad", "debug": "dim"}


def logs(options: Namespace) -> int:
    """Print the last lines, and with -f what is written from now on."""
    files = _files(places.current().logs, options.name)
    lines = options.lines if options.lines is not None else 8 if len(files) > 1 else 40
    positions = {file: _Position(file) for file in files}
    for file in files:
        for line in tail(file, max(0, lines)):
            _show(file, line, named=len(files) > 1)
    while options.follow:
        for file, position in positions.items():
            for line in position.news():
                _show(file, line, named=len(files) > 1)
        time.sleep(_POLL_S)
    return ExitCode.OK


def _files(folder: Path, name: str | None) -> list[Path]:
    there = sorted(folder.glob("*.log"))
    chosen = [file for file in there if name is None or file.stem == name]
    if not chosen:
        known = ", ".join(file.stem for file in there) or "none yet"
        raise StackError(f"There is no log of {name or 'anything'} in {folder}.", f"There are: {known}")
    return chosen


class _Position:
    """How far a log has been shown; a rotated one is begun anew."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._inode, self._offset = self._now()

    def news(self) -> list[str]:
        inode, size = self._now()
        if inode != self._inode or size < self._offset:
            self._inode, self._offset = inode, 0
        if size == self._offset:
            return []
        with self._file.open("rb") as log:
            log.seek(self._offset)
            data = log.read(size - self._offset)
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        return whole.decode("utf-8", "replace").splitlines()

    def _now(self) -> tuple[int, int]:
        try:
            info = self._file.stat()
        except FileNotFoundError:
            return 0, 0
        return info.st_ino, info.st_size


def _show(file: Path, line: str, *, named: bool) -> None:
    console.say((console.paint(f"{file.stem:<14} ", "dim") if named else "") + readable(line))


def readable(line: str) -> str:
    """A JSON record as `time level event key=value …`; anything else as it is."""
    try:
        record = json.loads(line) if line.startswith("{") else None
    except ValueError:
        record = None
    if not isinstance(record, dict):
        return line
    fields = cast("dict[str, Any]", record)
    level = str(fields.get("level", ""))
    rest = " ".join(f"{key}={value}" for key, value in fields.items() if key not in _HEAD)
    head = f"{str(fields.get('timestamp', ''))[:23]} {level:<7} {fields.get('event', '')}"
    return f"{console.paint(head, _COLOURS[level]) if level in _COLOURS else head}  {rest}".rstrip()
