"""How does LoCAL2 talk to a person at a terminal? The only module that prints."""

from __future__ import annotations

import os
import sys

_COLOURS = {"good": "32", "warn": "33", "bad": "31", "dim": "2", "bold": "1"}


def paint(text: str, colour: str) -> str:
    """`text` in a colour, where the terminal shows colours and NO_COLOR is not set."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"


def say(text: str = "") -> None:
    """A line for the user."""
    print(text, flush=True)


def complain(text: str, hint: str = "") -> None:
    """What went wrong, and what to do about it, on standard error."""
    print(f"local2: {text}", file=sys.stderr, flush=True)
    if hint:
        print(f"        {hint}", file=sys.stderr, flush=True)


def row(name: str, state: str, colour: str, note: str = "") -> None:
    """One line of a list of programs."""
    say(f"  {name:<16} {paint(f'{state:<10}', colour)} {paint(note, 'dim')}".rstrip())


class Progress:
    """A line that is drawn over on a terminal, and said every tenth elsewhere."""

    def __init__(self, title: str) -> None:
        self._title, self._last, self._drawn = title, (-1, ""), False

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """`done` and `total` are bytes; a total of 0 means that it is not known."""
        percent = min(100, done * 100 // total) if total else 0
        step = (percent if sys.stdout.isatty() else percent // 10, note if done >= total else "")
        if step == self._last:
            return
        self._last = step
        sizes = f"{done / 1e6:,.0f} of {total / 1e6:,.0f} MB"
        if not sys.stdout.isatty():
            say(f"{self._title}: {percent} % ({sizes}) {note}".rstrip())
            return
        bar = "█" * (percent // 4) + "░" * (25 - percent // 4)
        sys.stdout.write(f"\r\x1b[2K{self._title} {bar} {percent:3d} %  {sizes}  {note}")
        sys.stdout.flush()
        self._drawn = True

    def end(self) -> None:
        """Leave the drawn line."""
        if self._drawn:
            say()
            self._drawn = False
