"""What does the scripted server answer on its own: to a prompt, to a text to embed, to questions about models?"""

import hashlib
import json
import math
import re
from typing import Any

import msgspec

from tests.support.scripted_ollama_http import Request
from tests.support.scripted_ollama_script import Call, Default, Say, Step

_USE_TOOL = re.compile(r"use (\S+)\s*", re.IGNORECASE)
_DIMENSIONS = re.compile(r"(\d+)d\b")
_DEFAULT_DIMENSIONS = 64


def answer(request: Request, how: Default) -> list[Step]:
    """Quote the results of tools, else call the tool that the user names, else repeat what the user said."""
    results = _results(request.messages)
    if not results and (call := _call(request)):
        return [call]
    if how.echo:
        return [_in_words(signed(request.said) if how.signed else request.said, how.every_s)]
    if results:
        return [_in_words(" ".join(f"{name} answered: {result}" for name, result in results), how.every_s)]
    return [_in_words(f"You said: {request.said}", how.every_s)]


def signed(words: str) -> str:
    """The words, and a mark that no others have."""
    return f"{words} {hashlib.blake2b(words.encode(), digest_size=4).hexdigest()}"


def embed(model: str, text: str, dimensions: int | None = None) -> list[float]:
    """A unit vector in which texts are as near as they share words. A name like `embed-384d` sets the dimensions."""
    named = _DIMENSIONS.search(model)
    size = dimensions or (int(named[1]) if named else _DEFAULT_DIMENSIONS)
    vector = [0.0] * size
    for word in re.findall(r"\w+", text.casefold()):
        digest = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())
        vector[digest % size] += 1.0 if digest >> 63 else -1.0
    length = math.hypot(*vector) or 1.0
    return [value / length for value in vector]


def capabilities(model: str) -> list[str]:
    """What a model can do, told by its name."""
    if "embed" in model:
        return ["embedding"]
    lacking = {"nothink": "thinking", "notools": "tools"}
    known = ["completion", "tools", "thinking", *(["vision"] if "vision" in model else [])]
    return [able for able in known if able not in {lack for part, lack in lacking.items() if part in model}]


def describe(model: str) -> dict[str, Any]:
    """A model as `/api/tags` and `/api/ps` list it."""
    size = 1_000_000_000
    digest = hashlib.sha256(model.encode()).hexdigest()
    return {"name": model, "model": model, "size": size, "digest": digest, "details": details()}


def details() -> dict[str, Any]:
    """The same for every model."""
    family = "scripted"
    return {
        "parent_model": "",
        "format": "gguf",
        "family": family,
        "families": [family],
        "parameter_size": "1B",
        "quantization_level": "Q4_K_M",
    }


def full_name(model: str) -> str:
    """The name as Ollama spells it in messages about capabilities."""
    path = model if "/" in model else f"library/{model}"
    return f"registry.ollama.ai/{path}" + ("" if ":" in model else ":latest")


def _in_words(text: str, every_s: float) -> Say:
    return Say(re.findall(r"\s*\S+|\s+$", text), every_s)


def _results(messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The tool results since the last user message."""
    results: list[tuple[str, str]] = []
    for message in messages:
        if message.get("role") == "user":
            results.clear()
        elif message.get("role") == "tool":
            results.append((message.get("tool_name") or message.get("name") or "tool", str(message.get("content"))))
    return results


def _call(request: Request) -> Call | None:
    wanted = _USE_TOOL.match(request.said)
    if not wanted or wanted[1] not in request.tools:
        return None
    try:
        args, _ = json.JSONDecoder().raw_decode(request.said, wanted.end())
        return msgspec.convert({"name": wanted[1], "args": args, "do": "call"}, Call)
    except ValueError:
        return Call(wanted[1])
