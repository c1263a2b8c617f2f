"""Ollama's requests, checked, and its answers, built."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar

import msgspec

from participants.services.model_server.errors import Refused
from participants.services.model_server.generation import Done, Json, Sampling

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)")
KeepAlive = float | str | None
R = TypeVar("R", bound="Request")


class FunctionCall(msgspec.Struct):
    """A call that the model made earlier."""

    name: str
    arguments: Json = {}


class ToolCall(msgspec.Struct):
    """A call as it stands in an assistant's message."""

    function: FunctionCall


class ChatMessage(msgspec.Struct):
    """One message of the conversation. `thinking` is taken and not used: it never goes back to a model."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    images: list[Any] | None = None
    thinking: str | None = None
    tool_calls: list[ToolCall] | None = None
    tool_name: str | None = None
    name: str | None = None


class FunctionDefinition(msgspec.Struct):
    """What a tool is called, does and takes."""

    name: str
    description: str | None = ""
    parameters: Json | None = None


class ToolDefinition(msgspec.Struct):
    """A tool that is offered."""

    function: FunctionDefinition
    type: str | None = "function"


class Options(msgspec.Struct):
    """The options that mean something here; Ollama's others (num_gpu, mirostat …) are passed over, as Ollama does."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    seed: int | None = None
    repeat_penalty: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    num_predict: int | None = None
    num_ctx: int | None = None
    stop: list[str] | str | None = None


class Request(msgspec.Struct, kw_only=True):
    """What all requests to a model share."""

    model: str
    keep_alive: KeepAlive = None
    options: Options | None = None


class ChatRequest(Request, kw_only=True):
    """POST /api/chat."""

    messages: list[ChatMessage] = []
    tools: list[ToolDefinition] | None = None
    stream: bool | None = True
    think: bool | str | None = None
    format: str | Json | None = None


class GenerateRequest(Request, kw_only=True):
    """POST /api/generate."""

    prompt: str = ""
    suffix: str | None = None
    system: str | None = None
    template: str | None = None
    context: list[int] | None = None
    raw: bool | None = None
    images: list[Any] | None = None
    stream: bool | None = True
    think: bool | str | None = None
    format: str | Json | None = None


class EmbedRequest(Request, kw_only=True):
    """POST /api/embed."""

    input: str | list[str] = ""
    truncate: bool | None = True
    dimensions: int | None = None


class EmbeddingsRequest(Request, kw_only=True):
    """POST /api/embeddings, the older form."""

    prompt: str = ""


class ShowRequest(msgspec.Struct):
    """POST /api/show."""

    model: str = ""
    name: str = ""


def decode(body: bytes, kind: type[R] | type[ShowRequest]) -> Any:
    """Read a request body. Raises Refused with the name of the field that is wrong."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise Refused(f"invalid request: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(f"invalid JSON: {error}") from error


def sampling_of(options: Options | None) -> Sampling:
    """Ollama's options as ours. Raises Refused for a value that no model can use."""
    if options is None:
        return Sampling()
    _check("temperature", options.temperature, 0.0, 10.0)
    _check("top_p", options.top_p, 0.0, 1.0)
    _check("min_p", options.min_p, 0.0, 1.0)
    _check("top_k", options.top_k, -1, 1_000_000)
    _check("seed", options.seed, -(2**31), 2**32 - 1)
    _check("repeat_penalty", options.repeat_penalty, 0.01, 10.0)
    stop = (options.stop,) if isinstance(options.stop, str) else tuple(options.stop or ())
    predict = options.num_predict
    return Sampling(
        temperature=options.temperature,
        top_p=options.top_p,
        top_k=options.top_k,
        min_p=options.min_p,
        seed=options.seed,
        repeat_penalty=options.repeat_penalty,
        presence_penalty=options.presence_penalty,
        frequency_penalty=options.frequency_penalty,
        max_tokens=predict if predict is not None and predict >= 0 else None,
        stop=tuple(text for text in stop if text),
    )


def _check(name: str, value: float | None, low: float, high: float) -> None:
    if value is not None and not low <= value <= high:
        raise Refused(f"option {name!r} must be between {low:g} and {high:g}, and is {value!r}")


def context_of(options: Options | None, served: int) -> int:
    """The context of this request in tokens: what is asked, within what the engine has."""
    asked = options.num_ctx if options else None
    return served if asked is None or asked <= 0 else min(asked, served)


def schema_of(form: str | Json | None) -> Json | None:
    """The JSON schema that the answer must follow."""
    if form is None or form == "":
        return None
    if form == "json":
        return {"type": "object"}
    if isinstance(form, str):
        raise Refused(f'invalid format: {form!r}; expected "json" or a JSON schema')
    return form


def seconds_of(keep_alive: KeepAlive, default: float | None) -> float | None:
    """How long to keep the model; None: for ever (Ollama's negative values)."""
    if keep_alive is None:
        return default
    if isinstance(keep_alive, float | int):
        return None if keep_alive < 0 else float(keep_alive)
    text = keep_alive.strip()
    negative, digits = text.startswith("-"), text.lstrip("+-")
    parts = _DURATION.findall(digits)
    if "".join(number + unit for number, unit in parts) == digits and parts:
        value = sum(float(number) * _UNITS[unit] for number, unit in parts)
    elif re.fullmatch(r"\d+(\.\d+)?", digits):
        value = float(digits)
    else:
        raise Refused(f'invalid keep_alive {keep_alive!r}: expected seconds, or a duration such as "5m"')
    return None if negative else value


def now() -> str:
    """The time as Ollama writes it."""
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def counts(done: Done, total_s: float, load_s: float) -> Json:
    """The numbers at the end of an answer; durations in nanoseconds."""
    return {
        "done": True,
        "done_reason": done.reason,
        "total_duration": int(total_s * 1e9),
        "load_duration": int(load_s * 1e9),
        "prompt_eval_count": done.prompt_tokens,
        "prompt_eval_duration": int(done.prompt_s * 1e9),
        "eval_count": done.answer_tokens,
        "eval_duration": int(done.answer_s * 1e9),
    }
