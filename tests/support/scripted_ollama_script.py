"""What shall the scripted model server answer, and to whom?

A reply is a list of steps, played in order. Steps and replies have a JSON form, for tests in another process:
`{"do": "raw_call", "name": "f", "arguments": ""}` is `RawCall("f", "")`.
"""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec


def _in_snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


class _Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag=_in_snake_case):
    pass


class Say(_Step, frozen=True):
    """Answer text: one chunk, or one for each item. `every_s`: seconds that the model takes for each chunk."""

    text: str | list[str]
    every_s: float = 0.0


class Think(_Step, frozen=True):
    """Thinking in its own field, as `Say`."""

    text: str | list[str]
    every_s: float = 0.0


class Call(_Step, frozen=True):
    """A tool call, in a chunk of its own."""

    name: str
    args: dict[str, Any] = {}
    id: str | None = None


class RawCall(_Step, frozen=True):
    """A tool call whose arguments are sent as they stand: a string, null, a list."""

    name: str
    arguments: Any = None


class Line(_Step, frozen=True):
    """Any JSON object as a line of the stream."""

    json: dict[str, Any]


class Wait(_Step, frozen=True):
    """Pause until the test releases this name; once released it stays open."""

    name: str


class SplitBytes(_Step, frozen=True):
    """From here on cut what is sent: after every so many bytes, or at these offsets of the body."""

    every: int = 0
    at: list[int] = []

    def cut(self, data: bytes, offset: int) -> list[bytes]:
        """`data`, which starts at `offset` of the body, in the pieces to send."""
        edges = range(self.every, len(data), self.every) if self.every else [at - offset for at in sorted(self.at)]
        inner = [edge for edge in edges if 0 < edge < len(data)]
        return [data[a:b] for a, b in zip([0, *inner], [*inner, len(data)], strict=True)]


class BadJson(_Step, frozen=True):
    """A line that is no JSON."""

    text: str = '{"message": {"content": "Hal'


class Status(_Step, frozen=True):
    """An error status instead of an answer."""

    code: int
    message: str


class ErrorLine(_Step, frozen=True):
    """An error in a stream that began with status 200 (with `stream: false` a status 500); nothing follows."""

    message: str


class Drop(_Step, frozen=True):
    """The connection ends in the middle; with `reset` by a TCP reset, which may overtake what was sent."""

    reset: bool = False


class Hang(_Step, frozen=True):
    """Nothing more comes, and the connection stays open."""


class NoDone(_Step, frozen=True):
    """The stream ends in good order but without its last line."""


class Done(_Step, frozen=True):
    """The last line. Counts left out are made up from the words of the request and the chunks sent."""

    reason: str = "stop"
    prompt_eval_count: int | None = None
    eval_count: int | None = None


class DoneLoad(_Step, frozen=True):
    """The last line as it follows the mere loading of a model: without counts."""


class Default(_Step, frozen=True):
    """What the server answers without a script. `every_s`: seconds for each chunk.

    `echo`: it ends with the user's words alone, also where tools have answered. `signed`: and with a
    mark that only these words have, so that each answer says something new.
    """

    every_s: float = 0.0
    echo: bool = False
    signed: bool = False


_Output = Say | Think | Call | RawCall | Line | BadJson
_End = Status | ErrorLine | Drop | Hang | NoDone | Done | DoneLoad | Default
Step = _Output | _End | Wait | SplitBytes
_CHAT_ONLY = Say | Think | Call | RawCall | Done | DoneLoad

GENERATING = ("/api/chat", "/api/generate")


class Reply(msgspec.Struct, forbid_unknown_fields=True):
    """Steps, and which request they answer.

    `match` is searched in the last user message (ignoring case), `times` None means always. Without `path` the reply
    is for chat and generate; for another path it has faults and lines only, or ends in `Default`.
    """

    steps: list[Step]
    model: str | None = None
    match: str | None = None
    path: str | None = None
    times: int | None = 1

    def __post_init__(self) -> None:
        """Complete the ending, and refuse an order that no server could send."""
        if not self.steps or not isinstance(self.steps[-1], _End):
            self.steps = [*self.steps, self._ending()]
        generating = self.path is None or self.path in GENERATING
        if not generating and (wrong := [step for step in self.steps if isinstance(step, _CHAT_ONLY)]):
            raise ValueError(f"{wrong[0]!r} cannot answer {self.path!r}")
        if early := [step for step in self.steps[:-1] if isinstance(step, _End)]:
            raise ValueError(f"nothing can follow {early[0]!r}")
        if isinstance(self.steps[-1], Status) and self._sends():
            raise ValueError(f"{self.steps[-1]!r} must come before any text")

    def _sends(self) -> bool:
        return any(isinstance(step, _Output) for step in self.steps)

    def _ending(self) -> Step:
        if self.path is None or self.path in GENERATING:
            return Done()
        return NoDone() if self._sends() else Default()


class Order(msgspec.Struct, forbid_unknown_fields=True):
    """The body of `POST /_script`: forget all that was scripted, add replies, release names; in this order."""

    reset: bool = False
    replies: list[Reply] = []
    release: list[str] = []


@dataclass(slots=True)
class Gate:
    """A name that replies wait for: when the first one got there, and when it may go on."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)
    released: asyncio.Event = field(default_factory=asyncio.Event)


class Script:
    """The replies still to give, in the order in which they were added, and the gates they wait at."""

    def __init__(self) -> None:
        self._replies: list[tuple[Reply, Callable[[str], bool]]] = []
        self._gates: dict[str, Gate] = {}

    def add(self, reply: Reply, matches: Callable[[str], bool] | None = None) -> None:
        """Queue a reply; `matches` takes the last user message and stands in for the reply's own pattern."""
        pattern = re.compile(reply.match or "", re.IGNORECASE)
        self._replies.append((reply, matches or (lambda said: pattern.search(said) is not None)))

    def obey(self, order: Order) -> None:
        """Do what came over HTTP."""
        if order.reset:
            self._replies.clear()
            self._gates.clear()
        for reply in order.replies:
            self.add(reply)
        for name in order.release:
            self.gate(name).released.set()

    def gate(self, name: str) -> Gate:
        """The gate of this name, made when first asked for."""
        return self._gates.setdefault(name, Gate())

    def take(self, path: str, model: str, said: str) -> Reply | None:
        """The first reply that fits; it is used up when it has been given as often as it should."""
        for index, (reply, matches) in enumerate(self._replies):
            paths = GENERATING if reply.path is None else (reply.path,)
            if path in paths and reply.model in (None, model) and matches(said):
                self._use(index, reply)
                return reply
        return None

    def _use(self, index: int, reply: Reply) -> None:
        if reply.times is None:
            return
        reply.times -= 1
        if reply.times <= 0:
            del self._replies[index]
