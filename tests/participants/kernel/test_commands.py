"""Which lines are commands, and what do they come to without a model?"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bus.messages.tool import Command, Policies, ToolSchema
from participants.kernel import commands
from participants.kernel.registry import Registry

TEXT = {"type": "string"}


def schema(tool: str, command: Command, properties: dict[str, Any], required: list[str], **policies: Any) -> ToolSchema:
    return ToolSchema(
        tool=tool,
        name=policies.pop("name", tool),
        description="",
        parameters={"type": "object", "properties": properties, "required": required, "additionalProperties": False},
        policies=Policies(**policies),
        commands=[command],
    )


SEARCH = Command(name="search", help="Search the web", argument="query")
REMEMBER = Command(name="remember", help="Keep a fact", argument="fact", fill=True)


@pytest.fixture
def registry() -> Registry:
    registry = Registry()
    registry.announce(schema("web_search", SEARCH, {"query": TEXT, "limit": {"type": "integer"}}, ["query"]))
    registry.announce(schema("remember", REMEMBER, {"fact": TEXT, "reason": TEXT}, ["fact", "reason"]))
    registry.announce(schema("where", Command(name="where", help="Where you are"), {}, []))
    registry.announce(schema("clock", Command(name="time", help="The time", argument="zone"), {"zone": TEXT}, []))
    registry.announce(
        schema(
            "fetch", Command(name="fetch", help="Read", argument="url"), {"url": TEXT}, ["url"], enabled=False, web=True
        )
    )
    registry.announce(
        schema("recall", Command(name="recall", help="R", argument="q"), {"q": TEXT}, ["q"], needs=["memory_store"])
    )
    return registry


@pytest.mark.parametrize(
    ("line", "tool", "arguments"),
    [
        ("/search rain boots", "web_search", {"query": "rain boots"}),
        ("  /search   rain boots \n", "web_search", {"query": "rain boots"}),
        ("/Search rain\nboots", "web_search", {"query": "rain\nboots"}),
        ("/search a=b", "web_search", {"query": "a=b"}),
        ("/search rain boots limit=3", "web_search", {"query": "rain boots", "limit": 3}),
        ("/search limit=3", "web_search", None),
        ("/search limit=3 boots", "web_search", {"query": "limit=3 boots"}),
        ("/search query=boots", "web_search", {"query": "query=boots"}),
        ("/search 5", "web_search", {"query": "5"}),
        ('/search {"query": "x"}', "web_search", {"query": '{"query": "x"}'}),
        ("/search /etc/hosts", "web_search", {"query": "/etc/hosts"}),
        ("/where", "where", {}),
        ("/time", "clock", {}),
        ("/time Europe/Paris", "clock", {"zone": "Europe/Paris"}),
    ],
)
def test_line_is_a_call(registry: Registry, line: str, tool: str, arguments: dict[str, Any] | None) -> None:
    asked = commands.read(line, registry)
    assert asked is not None
    assert (asked.schema.tool if asked.schema else None) == (tool if arguments is not None else None)
    assert asked.arguments == (arguments or {})


@pytest.mark.parametrize(
    "line",
    [
        "/etc/hosts",
        "/ 2",
        "/",
        "//search x",
        "/search: x",
        "/searches x",
        "/home is full",
        "/5 x",
        "search x",
        "what is /search?",
        "",
        "/" + "x" * 100_000,
        "/résumé",
    ],
)
def test_all_else_is_a_question(registry: Registry, line: str) -> None:
    assert commands.read(line, registry) is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("/search", "/search needs query. Usage: `/search <query>`: Search the web."),
        ("/search boots limit=many", "limit: 'many'"),
        ("/where now", "/where takes nothing after it. Usage: `/where`"),
        ("/fetch https://a.b", "local2 setup --web on"),
        ("/recall boots", "memory_store is not running"),
        ("/remember", "/remember needs fact and reason. Usage: `/remember <fact>`"),
        ("/help", "- `/search <query>`: Search the web"),
        ("/HELP", "- `/help`: List the commands"),
        ("/help", "- `/fetch` is off: Turn the web on in Settings"),
        ("/help", "- `/recall` is off: memory_store is not running"),
        ("/help", "- `/time [zone]`: The time"),
        ("/help nothing", "- `/help`"),
    ],
)
def test_what_needs_no_tool_is_said(registry: Registry, line: str, words: str) -> None:
    asked = commands.read(line, registry)
    assert asked is not None
    assert asked.schema is None
    assert words in asked.words


def test_help_of_one_command(registry: Registry) -> None:
    asked = commands.read("/help /search", registry)
    assert asked == commands.Asked(words="- `/search <query>`: Search the web")


def test_model_fills_in_what_is_open(registry: Registry) -> None:
    asked = commands.read("/remember my sister is Nora", registry)
    assert asked is not None
    assert (asked.fill, asked.arguments) == (True, {"fact": "my sister is Nora"})
    done = commands.filled(asked, {"fact": "rewritten", "reason": "asked"})
    assert (done.fill, done.arguments) == (False, {"fact": "my sister is Nora", "reason": "asked"})


@pytest.mark.parametrize("given", [None, {}, [], "x", {"reason": ["x"]}, {"zz": 1}])
def test_what_the_model_leaves_open_is_asked_of_the_user(registry: Registry, given: Any) -> None:
    asked = commands.read("/remember my sister is Nora", registry)
    assert asked is not None
    done = commands.filled(asked, given)
    assert done.schema is None
    assert done.words.endswith("Usage: `/remember <fact>`: Keep a fact.")


def test_only_usable_commands_are_listed(registry: Registry) -> None:
    assert [info.name for info in commands.listed(registry)] == ["help", "remember", "search", "time", "where"]
    assert commands.listed(registry)[2].tool == "web_search"


def test_command_of_two_tools_belongs_to_the_first(registry: Registry) -> None:
    registry.announce(schema("other", SEARCH, {"query": TEXT}, ["query"]))
    registry.announce(schema("third", Command(name="help", help="Mine"), {}, []))
    asked = commands.read("/search x", registry)
    assert asked is not None
    assert asked.schema is not None
    assert asked.schema.tool == "web_search"
    assert [info.tool for info in commands.listed(registry) if info.name == "help"] == [""]


def test_command_of_a_tool_that_died_says_so(registry: Registry) -> None:
    registry.process_gone("web_search")
    asked = commands.read("/search x", registry)
    assert asked == commands.Asked(words="/search cannot be used now: web_search is not running. See: local2 status")


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_line_is_read(name: str, rest: str) -> None:
    asked = commands.read(f"/{name} {rest}", REGISTRY)
    assert asked is None or bool(asked.words) != (asked.schema is not None)


REGISTRY = Registry()
REGISTRY.announce(schema("web_search", SEARCH, {"query": TEXT, "limit": {"type": "integer"}}, ["query"]))
