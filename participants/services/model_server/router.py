"""Does this question need a tool, and which? Small models answer that only when they are asked nothing else.

All functions are pure: tool definitions and messages in, a prompt out; the model's reply in, a decision out.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

import msgspec

from participants.services.model_server.generation import Json, Lane, Message, Sampling, Work

ANSWER = "answer"
_MAX_QUESTION = 1200
_MAX_BEFORE = 240
_KEPT_KEYWORDS = {"type", "properties", "required", "items", "enum", "const", "anyOf", "oneOf"}
_HEAD = """\
You choose what an assistant does next. Reply with one JSON object that names one function.

{functions}
{answer}() - no function is needed: small talk, thanks, facts about the world, people, places or history, explaining, \
writing, translating, code, mathematics, or what was said before

Choose {answer} unless the request clearly needs another function."""


class Tool(msgspec.Struct, frozen=True):
    """A tool as the router sees it."""

    name: str
    description: str
    parameters: Json


class Decision(msgspec.Struct, frozen=True):
    """The router's word: the tool to call, or none (`tool` empty)."""

    tool: str = ""
    arguments: Json = {}


class _Example(msgspec.Struct, frozen=True):
    question: str
    tool: str = ""
    arguments: Json = {}
    before: tuple[str, str] | None = None


def routing(tools: Sequence[Tool], messages: Sequence[Message]) -> Work:
    """The router's prompt. Its head depends on the tools alone, so that the prefix cache holds it."""
    return Work(
        messages=(*head(tools), {"role": "user", "content": _ask(messages)}),
        sampling=Sampling(temperature=0.0, max_tokens=200),
        schema=decision_schema(tools),
        lane=Lane.ROUTER,
    )


def warm_up(tools: Sequence[Tool]) -> Work:
    """The head alone."""
    messages = (*head(tools), {"role": "user", "content": ""})
    return Work(messages=messages, sampling=Sampling(max_tokens=1), lane=Lane.ROUTER)


def head(tools: Sequence[Tool]) -> list[Message]:
    """System prompt and examples."""
    functions = "\n".join(_line(tool) for tool in tools)
    messages = [{"role": "system", "content": _HEAD.format(functions=functions, answer=_answer_name(tools))}]
    for example in _examples(tools):
        before = [] if example.before is None else _exchange(*example.before)
        choice: Json = {"name": example.tool or _answer_name(tools)}
        if example.tool:
            choice["arguments"] = example.arguments
        messages.append({"role": "user", "content": _ask([*before, {"role": "user", "content": example.question}])})
        messages.append({"role": "assistant", "content": json.dumps(choice, ensure_ascii=False)})
    return messages


def decision_schema(tools: Sequence[Tool]) -> Json:
    """What the router may reply: a call of one of the tools with valid arguments, or the word for none."""
    calls = [_closed({"name": {"const": tool.name}, "arguments": simplified(tool.parameters)}) for tool in tools]
    return {"anyOf": [*calls, _closed({"name": {"const": _answer_name(tools)}})]}


def decision_of(reply: str, tools: Sequence[Tool]) -> Decision:
    """What the reply says; anything that is no whole call of a known tool means: answer."""
    try:
        value = json.loads(reply)
    except ValueError:
        return Decision()
    if not isinstance(value, dict):
        return Decision()
    call = cast(Json, value)
    arguments = call.get("arguments", {})
    if call.get("name") not in {tool.name for tool in tools} or not isinstance(arguments, dict):
        return Decision()
    return Decision(call["name"], cast(Json, arguments))


def simplified(schema: Any, depth: int = 0) -> Json:
    """The part of a JSON schema that a grammar can hold; the caller's validation knows the rest."""
    if not isinstance(schema, dict) or depth > 6:
        return {}
    given = cast(Json, schema)
    kept = {word: value for word, value in given.items() if word in _KEPT_KEYWORDS}
    for word in ("anyOf", "oneOf"):
        if word in kept:
            kept[word] = [simplified(option, depth + 1) for option in kept[word]]
    if "items" in kept:
        kept["items"] = simplified(kept["items"], depth + 1)
    if "properties" in kept or kept.get("type") == "object" or not depth:
        properties = cast(Json, kept.get("properties") or {})
        kept["type"] = "object"
        kept["properties"] = {name: simplified(value, depth + 1) for name, value in properties.items()}
        kept["additionalProperties"] = False
    return kept


def _closed(properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _answer_name(tools: Sequence[Tool]) -> str:
    return ANSWER if all(tool.name != ANSWER for tool in tools) else f"{ANSWER}_directly"


def _line(tool: Tool) -> str:
    arguments = ", ".join(_argument(name, schema, tool) for name, schema in _properties(tool).items())
    return f"{tool.name}({arguments}) - {_first_sentence(tool.description, 160)}"


def _argument(name: str, schema: Json, tool: Tool) -> str:
    optional = "" if name in tool.parameters.get("required", ()) else "?"
    options = schema.get("enum")
    about = "|".join(map(str, options)) if options else _first_sentence(str(schema.get("description", "")), 60)
    return f"{name}{optional}: {about}" if about else f"{name}{optional}"


def _properties(tool: Tool) -> dict[str, Json]:
    properties = cast(Json, tool.parameters.get("properties") or {})
    return {name: cast(Json, schema) for name, schema in properties.items() if isinstance(schema, dict)}


def _first_sentence(text: str, limit: int) -> str:
    flat = " ".join(text.split())
    return _clipped(flat.split(". ")[0].rstrip("."), limit)


def _ask(messages: Sequence[Message]) -> str:
    """The question, with the exchange before it: "and in Tokyo?" means nothing alone."""
    question = _clipped(messages[-1]["content"], _MAX_QUESTION)
    spoken = [message for message in messages[:-1] if message["role"] in {"user", "assistant"}]
    before = "".join(f"{message['role']}: {_clipped(message['content'], _MAX_BEFORE)}\n" for message in spoken[-2:])
    return f"Before:\n{before}\nRequest: {question}" if before else f"Request: {question}"


def _clipped(text: str, limit: int) -> str:
    text = text.strip()
    return text if len(text) <= limit else f"{text[: limit * 2 // 3]} … {text[-limit // 3 :]}"


def _exchange(question: str, answer: str) -> list[Message]:
    return [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]


@cache
def _known_examples() -> tuple[_Example, ...]:
    raw = tomllib.loads((Path(__file__).parent / "router_examples.toml").read_text(encoding="utf-8"))
    return msgspec.convert(raw["example"], tuple[_Example, ...])


def _examples(tools: Sequence[Tool]) -> Iterable[_Example]:
    """Examples for these tools, and questions that need none spread among them up to the last one.

    What stands last counts most, and a tool that is called needlessly is the worse mistake. A stable order keeps the
    prompt stable.
    """
    for_tools = [example for tool in tools for example in _examples_of(tool)][:12]
    plain = [example for example in _known_examples() if not example.tool]
    places = [(index / max(1, len(for_tools)), 1, example) for index, example in enumerate(for_tools)]
    places += [((index + 1) / len(plain), 0, example) for index, example in enumerate(plain)]
    return [example for _place, _kind, example in sorted(places, key=lambda place: place[:2])]


def _examples_of(tool: Tool) -> list[_Example]:
    properties = set(_properties(tool))
    known = [
        example
        for example in _known_examples()
        if example.tool == tool.name
        and set(example.arguments) <= properties
        and set(tool.parameters.get("required", ())) <= set(example.arguments)
    ]
    return known or [_made_up_example(tool)]


def _made_up_example(tool: Tool) -> _Example:
    required = tool.parameters.get("required", ())
    arguments = {name: _made_up(name, schema) for name, schema in _properties(tool).items() if name in required}
    values = ", ".join(str(value) for value in arguments.values())
    question = _first_sentence(tool.description, 100) or tool.name.replace("_", " ")
    return _Example(f"{question}: {values}" if values else question, tool.name, arguments)


def _made_up(name: str, schema: Json) -> Any:
    for source in ("enum", "examples"):
        if schema.get(source):
            return schema[source][0]
    by_type: Json = {"integer": 3, "number": 2.5, "boolean": True, "array": [], "object": {}}
    by_name: Json = {"url": "https://example.org", "city": "Lisbon", "location": "Lisbon", "date": "2026-05-01"}
    return schema.get("default", by_type.get(str(schema.get("type")), by_name.get(name, "solar power")))
