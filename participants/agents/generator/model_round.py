"""What does the model say in one round?

One streamed chat request, told as pieces of thinking and answer, then calls and figures. Every way
in which a server can misbehave ends as a `RoundFailed` with words, within a bound.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
import ollama
import structlog

from participants.agents.generator.config import GeneratorConfig
from participants.agents.generator.reader import AnswerReader
from participants.backend.backends import Backends
from participants.backend.chat import Chunk, Unreadable, calls_in
from participants.backend.thinking import Piece

log = structlog.get_logger()
_LAST_BYTES_S = 0.1
_MOST_CALLS = 128
_ABILITY_FIELDS = {"tools": "tools", "thinking": "think"}


class RoundFailed(Exception):
    """The round could not be finished.

    Args:
        code: A stable word: model_unreachable, model_missing, model_error, model_stalled, model_incomplete.
        message: What happened, and what to do about it.
        retryable: Whether the same request may work again.
    """

    def __init__(self, code: str, message: str, *, retryable: bool = True) -> None:
        super().__init__(message)
        self.code, self.message, self.retryable = code, message, retryable


@dataclass(slots=True)
class Round:
    """One round's outcome.

    Attributes:
        calls: (name, arguments as the model gave them) in order.
        printed: The same for those that stood in its text.
        chars: Characters of content that came, shown or not.
        done_reason: The server's: stop, length…
        prompt_tokens: As the server counted them; None where it did not say.
        answer_tokens: As the server counted them; None where it did not say.
        spoke: Whether anything came through.
    """

    text: str = ""
    thought: bool = False
    calls: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    printed: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    chars: int = 0
    done_reason: str = ""
    prompt_tokens: int | None = None
    answer_tokens: int | None = None

    @property
    def spoke(self) -> bool:
        """Whether anything came through."""
        return bool(self.text or self.thought or self.calls)

    def within(self, text: str, limit: int) -> str:
        """What of a piece still fits; it counts."""
        room = max(0, limit - self.chars)
        self.chars += len(text)
        return text[:room]

    def is_long(self, limit: int) -> bool:
        """Whether the model should stop here."""
        return self.chars >= limit or len(self.calls) > _MOST_CALLS


def options(config: GeneratorConfig) -> dict[str, Any]:
    """What is sent as the request's options: num_ctx always."""
    chosen = {"num_ctx": config.num_ctx, "num_predict": config.answer_tokens}
    extra = {"temperature": config.temperature, "seed": config.seed}
    return {**chosen, **{key: value for key, value in extra.items() if value is not None}}


async def play(
    backends: Backends,
    config: GeneratorConfig,
    *,
    model: str,
    messages: list[dict[str, Any]],
    tools: list[dict[str, Any]],
    think: bool,
    told: Callable[[Piece], None],
    into: Round,
    reader: Callable[[], AnswerReader],
    form: dict[str, Any] | None = None,
) -> None:
    """Run one round into `into`, telling each piece as it comes.

    What the model cannot do (think, use tools) is left out, and remembered when the server says so.

    Args:
        backends: The model server.
        config: generator.yaml.
        model: The model's name.
        messages: The prompt.
        tools: What it may call.
        think: Whether it may think first.
        told: Takes each piece.
        into: What comes of it.
        reader: Makes the reader of its content.
        form: A JSON schema that the answer has to have.

    Raises:
        RoundFailed: With words; `into` holds what came before.
    """
    abilities = await backends.abilities(model)
    request: dict[str, Any] = {
        "model": model,
        "messages": messages,
        "options": options(config),
        "keep_alive": config.keep_alive,
        "stream": True,
    }
    if tools and "tools" in abilities:
        request["tools"] = tools
    if think and "thinking" in abilities:
        request["think"] = True
    if form is not None:
        request["format"] = form
    try:
        await _stream(backends, config, request, told, into, reader())
    except ollama.ResponseError as error:
        refused = refused_ability(error)
        if refused is None or not request.get(_ABILITY_FIELDS[refused]) or into.spoke:
            raise _failure(error, model) from error
        backends.cannot(model, refused)
        await play(
            backends,
            config,
            model=model,
            messages=messages,
            tools=tools,
            think=think,
            told=told,
            into=into,
            reader=reader,
            form=form,
        )


def refused_ability(error: ollama.ResponseError) -> str | None:
    """Which ability the server says that the model lacks; None for any other error."""
    if error.status_code != 400 or "does not support" not in error.error:
        return None
    return "thinking" if "think" in error.error.rpartition("does not support")[2] else "tools"


def _failure(error: ollama.ResponseError, model: str) -> RoundFailed:
    words = error.error.strip()[:500] or "no reason given"
    if error.status_code == 404:
        return RoundFailed(
            "model_missing", f"The model {model!r} is not there ({words}). To get it: `ollama pull {model}`"
        )
    if error.status_code in (400, 413):
        return RoundFailed("model_error", f"The model server refused the request: {words}", retryable=False)
    return RoundFailed("model_error", f"The model server failed: {words}")


async def _stream(
    backends: Backends,
    config: GeneratorConfig,
    request: dict[str, Any],
    told: Callable[[Piece], None],
    into: Round,
    reader: AnswerReader,
) -> None:
    chunks = backends.client().stream_chat(request)

    def enough(chunk: Chunk) -> bool:
        _take(chunk, reader, told, into, config.max_answer_chars)
        if chunk.done or into.is_long(config.max_answer_chars):
            into.done_reason = (chunk.done_reason or "stop") if chunk.done else "length"
        return bool(into.done_reason)

    try:
        await _listen(chunks, config, enough)
        if into.done_reason:
            await _read_to_end(chunks)
    except (httpx.HTTPError, OSError) as error:
        raise RoundFailed("model_unreachable", f"The connection to the model server broke ({_name(error)}).") from error
    except Unreadable as error:
        raise RoundFailed("model_error", "The model server sent something unreadable.") from error
    finally:
        if into.done_reason or into.spoke:  # else nothing was said, and what is held back was no answer yet
            _tell(reader.close(), told, into)
        await chunks.aclose()  # which closes the connection: the server stops generating
    if not into.done_reason:
        raise RoundFailed("model_incomplete", "The model server ended the stream in the middle of the answer.")
    into.printed = reader.calls


async def _read_to_end(chunks: AsyncIterator[Chunk]) -> None:
    """A stream that is read to its end leaves its connection for the next request; one that goes on is closed."""
    with contextlib.suppress(TimeoutError, StopAsyncIteration):
        async with asyncio.timeout(_LAST_BYTES_S):
            await anext(chunks)


async def _listen(chunks: AsyncIterator[Chunk], config: GeneratorConfig, enough: Callable[[Chunk], bool]) -> None:
    """Hand on the chunks until there are enough, each within its bound: the first may need the model to load.

    Raises:
        RoundFailed: Nothing came for too long.
    """
    now, wait_s = asyncio.get_running_loop().time, config.first_chunk_s
    try:
        async with asyncio.timeout(wait_s) as limit:
            async for chunk in chunks:
                wait_s = config.stall_s
                limit.reschedule(now() + wait_s)
                if enough(chunk):
                    return
    except TimeoutError as error:
        raise RoundFailed("model_stalled", f"The model server said nothing for {wait_s:g} s.") from error


def _take(chunk: Chunk, reader: AnswerReader, told: Callable[[Piece], None], into: Round, limit: int) -> None:
    """Thinking counts as well, and a piece is cut at the limit: what comes of a turn has to fit into a message."""
    message = chunk.message
    if message.thinking:
        _tell([Piece("thinking", into.within(message.thinking, limit))], told, into)
    if message.content:
        _tell(reader.feed(into.within(message.content, limit)), told, into)
    into.calls += calls_in(bytes(message.tool_calls))
    if chunk.done:
        into.prompt_tokens, into.answer_tokens = chunk.prompt_eval_count, chunk.eval_count


def _tell(pieces: list[Piece], told: Callable[[Piece], None], into: Round) -> None:
    for piece in pieces:
        if piece.kind == "answer":
            into.text += piece.text
        else:
            into.thought = True
            into.text = into.text.removesuffix(piece.text) if piece.retract else into.text
        told(piece)


def _name(error: Exception) -> str:
    return str(error) or type(error).__name__
