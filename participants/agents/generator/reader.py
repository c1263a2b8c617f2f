"""What of a model's streamed content is thinking, what is answer, and what is a tool call that was printed?

Thinking is told apart first: a call in it was only thought of. Text that turns out to have been thinking takes back
what was shown of it, and drops the calls that stood in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bus.messages.tool import ToolSchema
from participants.backend.thinking import Piece, ThinkSplitter
from participants.kernel.printed.splitter import CallSplitter, Part


class AnswerReader:
    """Reads one round's content piece by piece.

    Args:
        tools: The tools that the model was told of.
        question: What the user asked.
    """

    def __init__(self, tools: Sequence[ToolSchema], question: str) -> None:
        self._tools, self._question = tools, question
        self._thinking = ThinkSplitter()
        self._printed = CallSplitter(tools, question)
        self._parts: list[Part] = []

    @property
    def calls(self) -> list[tuple[str, Any]]:
        """The calls so far, each (name, arguments)."""
        return [(call.name, call.arguments) for part in self._parts for call in part.calls]

    def feed(self, text: str) -> list[Piece]:
        """What is certain after `text`."""
        return self._read(self._thinking.feed(text))

    def close(self) -> list[Piece]:
        """The content has ended."""
        pieces = self._read(self._thinking.close())
        return pieces + self._take(self._printed.close())

    def _read(self, pieces: Sequence[Piece]) -> list[Piece]:
        out: list[Piece] = []
        for piece in pieces:
            if piece.kind == "answer":
                out += self._take(self._printed.feed(piece.text))
            elif piece.retract:
                out += self._take_back(piece.text)
            else:
                out += [*self._take(self._printed.close()), piece]
        return out

    def _take(self, parts: Sequence[Part]) -> list[Piece]:
        self._parts += parts
        return [Piece("answer", part.shown) for part in parts if part.shown]

    def _take_back(self, text: str) -> list[Piece]:
        """The answer so far ends with `text`, of which only a part was shown."""
        held, left, shown = self._printed.held, len(text), ""
        self._printed = CallSplitter(self._tools, self._question)
        again, hidden = held[: max(0, len(held) - left)], held[-left:]
        left -= len(held)
        while left > 0:
            part = self._parts.pop()
            before, taken = part.written[: max(0, len(part.written) - left)], part.written[-left:]
            left -= len(part.written)
            if part.calls:
                again, hidden = before, taken + hidden  # what came before the thinking in it is no call now
            else:
                self._parts += [Part(before)] if before else []
                shown = taken + shown
        pieces = [Piece("thinking", shown, retract=True)] if shown else []
        pieces += [Piece("thinking", hidden)] if hidden else []
        return pieces + self._take(self._printed.feed(again))
