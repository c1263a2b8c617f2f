"""How is a model asked for something small that no user reads as it comes?

No tools are offered, and the options are those of the loaded model: another num_ctx would have it loaded anew.
"""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import ollama

from bus.errors import Local2Error
from participants.backend.backends import Backends
from participants.backend.chat import Unreadable
from participants.backend.thinking import without_thinking

_MOST_CHARS = 200_000


class NoAnswer(Local2Error):
    """The model gave none; the text says why."""


async def ask(
    backends: Backends,
    model: str,
    messages: list[dict[str, Any]],
    *,
    num_ctx: int,
    most_tokens: int,
    limit_s: float,
    form: dict[str, Any] | None = None,
) -> str:
    """The model's answer, without its thinking. Being cancelled closes the connection, and the server stops.

    Args:
        backends: The model server.
        model: The model's name.
        messages: The prompt.
        num_ctx: As the generator has it, so that the model stays loaded as it is.
        most_tokens: The answer's length limit.
        limit_s: Seconds in all.
        form: A JSON schema that the answer has to have.

    Raises:
        NoAnswer: It failed, took too long, called a tool or said nothing.
    """
    request: dict[str, Any] = {
        "model": model,
        "messages": messages,
        "options": {"num_ctx": num_ctx, "num_predict": most_tokens, "temperature": 0},
        "stream": True,
    }
    if "thinking" in await backends.abilities(model):
        request["think"] = False
    if form is not None:
        request["format"] = form
    try:
        async with asyncio.timeout(limit_s):
            text = await _read(backends, request)
    except TimeoutError as error:
        raise NoAnswer(f"The model {model!r} did not answer within {limit_s:g} s.") from error
    except ollama.ResponseError as error:
        raise NoAnswer(f"The model server refused: {error.error.strip()[:300]}") from error
    except (httpx.HTTPError, OSError) as error:
        raise NoAnswer(f"The connection to the model server broke ({str(error) or type(error).__name__}).") from error
    except Unreadable as error:
        raise NoAnswer("The model server sent something unreadable.") from error
    if not text.strip():
        raise NoAnswer(f"The model {model!r} said nothing.")
    return text.strip()


async def _read(backends: Backends, request: dict[str, Any]) -> str:
    chunks = backends.client().stream_chat(request)
    text = ""
    try:
        async for chunk in chunks:
            text += chunk.message.content or ""
            if chunk.done or len(text) > _MOST_CHARS:
                break
    finally:
        await chunks.aclose()
    return without_thinking(text)
