"""Which tools is the model told of, and who may hold a name?"""

from __future__ import annotations

from typing import Any

import pytest

from bus.messages.tool import Policies, ToolSchema
from participants.kernel.registry import Registry


def schema(tool: str, name: str = "", **more: Any) -> ToolSchema:
    parameters = more.pop("parameters", {"type": "object", "properties": {}})
    described = more.pop("description", tool)
    return ToolSchema(tool=tool, name=name or tool, description=described, parameters=parameters, **more)


@pytest.fixture
def registry() -> Registry:
    registry = Registry(lives=lambda _pid: False)
    registry.announce(schema("web_search"))
    registry.announce(schema("get_datetime", "datetime", policies=Policies(aliases=["datetime", "get_time"])))
    registry.announce(schema("secret", policies=Policies(enabled=False)))
    registry.announce(schema("web_fetch", policies=Policies(enabled=False, web=True)))
    return registry


def names(registry: Registry) -> list[str]:
    return [s.tool for s in registry.enabled()]


def test_name_belongs_to_its_first_live_announcer(registry: Registry) -> None:
    assert not registry.announce(schema("web_search", "intruder"))
    assert "belongs to 'web_search'" in registry.reason(schema("web_search", "intruder"))
    assert registry.process_gone("web_search")
    assert registry.announce(schema("web_search", "intruder"))
    assert registry.refused == []


def test_name_stays_with_a_process_that_lives() -> None:
    living = {7}
    registry = Registry(lives=living.__contains__)
    registry.announce(schema("web_search", pid=7))
    assert not registry.announce(schema("web_search", pid=8, description="forged"))
    assert [(s.pid, s.description) for s in registry.enabled()] == [(7, "web_search")]
    assert registry.announce(schema("web_search", pid=7, description="reloaded"))
    living.clear()
    assert registry.announce(schema("web_search", pid=8, description="restarted"))
    assert [(s.pid, s.description) for s in registry.enabled()] == [(8, "restarted")]


def test_intruder_cannot_withdraw(registry: Registry) -> None:
    assert not registry.announce(schema("web_search", "intruder", withdrawn=True))
    assert registry.get("web_search") is not None


def test_name_that_servers_would_see_twice_is_refused(registry: Registry) -> None:
    assert registry.announce(schema("notes.add"))
    assert not registry.announce(schema("notes__add"))
    assert "notes.add" in registry.reason(schema("notes__add"))


@pytest.mark.parametrize("tool", ["", "a b", "<|im_start|>", "x" * 65, "é", "../x", "-a", "a.", "a\nb"])
def test_odd_name_is_refused(registry: Registry, tool: str) -> None:
    assert not registry.announce(schema(tool))
    assert "tool:" in registry.reason(schema(tool))


LOOP = {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}
LAUGHS = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(30)} | {"a30": {}}
TREE = {"t": {"type": "object", "properties": {"left": {"$ref": "#/$defs/t"}}}}
CHOICE = {"t": {"anyOf": [{"items": {"$ref": "#/$defs/t"}}, {"type": "object"}]}}


def deep(levels: int) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        part = {"type": "object", "properties": {"a": part}}
    return part


def using(definitions: dict[str, Any], first: str) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": {"$ref": f"#/$defs/{first}"}}, "$defs": definitions}


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({}, "type object"),
        ({"type": "string"}, "type object"),
        ({"type": "object", "properties": {"a": {"type": "nope"}}}, "properties.a"),
        ({"type": "object", "properties": []}, "properties"),
        ({"type": "object", "description": "x" * 20_000}, "do not fit into a prompt"),
        (deep(40), "nested"),
        (using(LOOP, "a"), "leads to itself"),
        (using(LAUGHS, "a0"), "more than"),
        (using(CHOICE, "t"), "has alternatives"),
        ({"type": "object", "$ref": "#"}, "leads to itself"),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}}, "does not lead"),
        ({"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x.json"}}}, "does not lead"),
        ({"type": "object", "properties": {"a": {"$ref": "file:///etc/passwd"}}}, "does not lead"),
        ({"type": "object", "$id": "http://127.0.0.1:9/x.json"}, "$id"),
        ({"type": "object", "properties": {"a": {"pattern": "(a+)+$"}}}, "too long to check"),
        ({"type": "object", "properties": {"a": {"pattern": "(("}}}, "no regular expression"),
        ({"type": "object", "patternProperties": {"(a|a)*$": {}}}, "too long to check"),
    ],
)
def test_broken_schema_hides_no_other_tool(registry: Registry, parameters: dict[str, Any], words: str) -> None:
    broken = schema("broken", parameters=parameters)
    assert not registry.announce(broken)
    assert words in registry.reason(broken)
    assert [(one.tool, one.name) for one in registry.refused] == [("broken", "broken")]
    assert names(registry) == ["get_datetime", "web_search"]


@pytest.mark.parametrize(
    "parameters",
    [
        using(TREE, "t"),
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "^[a-z][a-z0-9_-]*$"}}},
        {"type": "object", "properties": {"pattern": {"type": "string"}, "properties": {"enum": [1, {"$ref": "x"}]}}},
    ],
)
def test_unusual_schema_is_taken(registry: Registry, parameters: dict[str, Any]) -> None:
    assert registry.announce(schema("odd", parameters=parameters))


def test_endless_description_is_refused(registry: Registry) -> None:
    assert not registry.announce(schema("broken", description="x" * 5000))


def test_tools_are_limited_in_number(registry: Registry) -> None:
    taken = [registry.announce(schema(f"tool{n}", "flood")) for n in range(1000)]
    assert sum(taken) == 124
    assert len(registry.refused) == 256
    assert registry.announce(schema("web_search", description="changed"))


def test_tool_that_becomes_broken_is_told_of_no_longer(registry: Registry) -> None:
    assert registry.announce(schema("web_search", parameters={}))
    assert names(registry) == ["get_datetime"]
    assert [one.tool for one in registry.refused] == ["web_search"]
    assert registry.announce(schema("web_search"))
    assert registry.refused == []


def test_another_process_of_the_same_program_keeps_the_tool(registry: Registry) -> None:
    registry.announce(schema("web_search", pid=2))
    assert not registry.process_gone("web_search", pid=1)
    assert not registry.announce(schema("web_search", pid=1, withdrawn=True))
    assert registry.process_gone("web_search", pid=2)


def test_same_announcement_again_changes_nothing(registry: Registry) -> None:
    assert not registry.announce(schema("web_search"))


def test_definitions_keep_their_order(registry: Registry) -> None:
    registry.announce(schema("aaa.b"))
    offered = [d["function"]["name"] for d in registry.definitions()]
    assert offered == ["aaa__b", "get_datetime", "web_search"]


class TestNeeds:
    """A tool that cannot work without another program."""

    @pytest.fixture
    def registry(self) -> Registry:
        registry = Registry()
        registry.announce(schema("remember", policies=Policies(needs=["memory_store"])))
        return registry

    def test_it_is_hidden_while_that_is_away(self, registry: Registry) -> None:
        assert names(registry) == []
        assert "memory_store" in registry.refused[0].reason
        assert registry.find("remember").outcome == "unavailable"
        assert registry.program_here("memory_store", 7)
        assert (names(registry), registry.refused) == (["remember"], [])

    def test_only_the_process_that_runs_can_go(self, registry: Registry) -> None:
        registry.program_here("memory_store", 7)
        registry.process_gone("memory_store", 6)
        assert names(registry) == ["remember"]
        assert registry.process_gone("memory_store", 7)
        assert names(registry) == []

    def test_another_program_does_not_matter(self, registry: Registry) -> None:
        assert not registry.program_here("gateway", 3)
        assert not registry.process_gone("gateway", 3)


@pytest.mark.parametrize(
    ("name", "outcome", "words"),
    [
        ("web_search", "", ""),
        ("secret", "disabled", "set policies.enabled in secret.yaml"),
        ("Web-Fetch", "disabled", "local2 setup --web on"),
        ("search_web", "unknown", "The tools are: web_search, get_datetime."),
    ],
)
def test_why_a_tool_cannot_be_called(registry: Registry, name: str, outcome: str, words: str) -> None:
    found = registry.find(name)
    assert found.outcome == outcome
    assert words in found.words


def test_tool_whose_process_died_is_unavailable(registry: Registry) -> None:
    registry.process_gone("web_search")
    assert registry.find("web-search").outcome == "unavailable"
    assert names(registry) == ["get_datetime"]
