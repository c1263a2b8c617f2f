"""What the engine is asked for, and what it gives: plain values, so that a stub can stand in for it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from enum import StrEnum
from typing import Any, Literal, Protocol

import msgspec

Message = dict[str, str]
Json = dict[str, Any]
State = Literal["absent", "installed", "loading", "ready", "idle", "error"]
OnState = Callable[[State, str], None]  # the second: why, and what to do about it


class Lane(StrEnum):
    """Which of the engine's slots a prompt may use. The router's head has one to itself: no answer evicts it."""

    ROUTER = "router"
    ANSWER = "answer"


class Sampling(msgspec.Struct, frozen=True):
    """How to choose tokens. None leaves it to the model's defaults; `max_tokens` None means up to the context's end."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    seed: int | None = None
    repeat_penalty: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()


class Work(msgspec.Struct, frozen=True):
    """One generation. Either `messages`, or `raw`, a prompt that gets no template. `num_ctx` 0: the engine's own."""

    messages: tuple[Message, ...] = ()
    raw: str = ""
    sampling: Sampling = Sampling()
    schema: Json | None = None
    num_ctx: int = 0
    lane: Lane = Lane.ANSWER

    @property
    def key(self) -> str:
        """The text whose beginning decides which slot's cache fits best."""
        return self.raw or "\x1e".join(f"{message['role']}\x1f{message['content']}" for message in self.messages)


class Delta(msgspec.Struct, frozen=True):
    """A piece of the answer, or of what a thinking model thinks."""

    text: str = ""
    thinking: str = ""


class Done(msgspec.Struct, frozen=True):
    """The end of a generation, with the engine's own counts (tokens) and durations (seconds)."""

    reason: Literal["stop", "length"]
    prompt_tokens: int = 0
    cached_tokens: int = 0
    answer_tokens: int = 0
    prompt_s: float = 0.0
    answer_s: float = 0.0


Event = Delta | Done


class Engine(Protocol):
    """What the service and the API need of an engine."""

    num_ctx: int
    expires_at: float | None  # seconds since the epoch; None: never, or not loaded

    @property
    def loaded(self) -> bool: ...
    async def load(self) -> None: ...
    async def unload(self) -> None: ...
    async def close(self) -> None: ...
    async def run(self, jobs: Sequence[Work]) -> None: ...
    def keep(self, seconds: float | None) -> None: ...
    def stream(self, work: Work) -> AsyncGenerator[Event, None]: ...
