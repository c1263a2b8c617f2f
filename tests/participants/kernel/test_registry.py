"""Which definition does a name mean, and who may hold it?"""

from __future__ import annotations

from typing import Any

import pytest

from bus.messages.tool import Policies, ToolSchema
from participants.kernel.registry import Registry


def schema(tool: str, name: str = "", **more: Any) -> ToolSchema:
    parameters = more.pop("parameters", {"type": "object", "properties": {}})
    return ToolSchema(tool=tool, name=name or tool, description=tool, parameters=parameters, **more)


@pytest.fixture
def registry() -> Registry:
    registry = Registry()
    registry.announce(schema("web_search"))
    registry.announce(schema("get_datetime", "datetime", policies=Policies(aliases=["datetime", "get_time"])))
    registry.announce(schema("secret", policies=Policies(enabled=False)))
    return registry


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("web_search", "web_search"),
        ("Web-Search", "web_search"),
        ("WEB SEARCH", "web_search"),
        ("datetime", "get_datetime"),
        ("Get-Time", "get_datetime"),
        ("search_web", None),
        ("web", None),
        ("e", None),
        ("", None),
        ("secret", None),
        ("web_search\x00", "web_search"),
    ],
)
def test_name_never_means_a_neighbour(registry: Registry, asked: str, meant: str | None) -> None:
    found = registry.get(asked)
    assert (found.tool if found else None) == meant


def test_name_belongs_to_its_first_live_announcer(registry: Registry) -> None:
    assert not registry.announce(schema("web_search", "intruder"))
    assert "belongs to" in registry.refused["intruder"]
    assert registry.process_gone("web_search")
    assert registry.announce(schema("web_search", "intruder"))


def test_intruder_cannot_withdraw(registry: Registry) -> None:
    assert not registry.announce(schema("web_search", "intruder", withdrawn=True))
    assert registry.get("web_search") is not None


@pytest.mark.parametrize(
    "parameters", [{}, {"type": "string"}, {"type": "object", "properties": {"a": {"type": "nope"}}}]
)
def test_broken_schema_hides_no_other_tool(registry: Registry, parameters: dict[str, Any]) -> None:
    assert not registry.announce(schema("broken", parameters=parameters))
    assert "parameters" in registry.refused["broken"]
    assert [s.tool for s in registry.enabled()] == ["get_datetime", "web_search"]


def test_another_process_of_the_same_program_keeps_the_tool(registry: Registry) -> None:
    registry.announce(schema("web_search", pid=2))
    assert not registry.process_gone("web_search", pid=1)
    assert registry.process_gone("web_search", pid=2)


def test_definitions_keep_their_order(registry: Registry) -> None:
    registry.announce(schema("aaa"))
    names = [d["function"]["name"] for d in registry.definitions()]
    assert names == ["aaa", "get_datetime", "web_search"]


def test_nearest_names_come_first(registry: Registry) -> None:
    assert registry.nearest("search_web")[0] == "web_search"
