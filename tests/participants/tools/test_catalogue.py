"""Is each tool of ours called the same everywhere, and described so that a model can choose it?"""

from __future__ import annotations

import importlib
import re
from configparser import RawConfigParser
from pathlib import Path

import pytest
from jsonschema.validators import Draft202012Validator

from bus.config import convert, read_yaml
from gateway.settings import struct_of
from participants.tools.base import BaseTool, ToolConfig

ROOT = Path(__file__).resolve().parents[3]
TOOLS = [
    ("datetime", "datetime_tool", "get_datetime", "time"),
    ("location", "location_tool", "get_location", "where"),
    ("personas", "persona_tool", "persona", "persona"),
    ("remember_this", "remember_this_tool", "remember_this", "remember"),
    ("search_memory", "search_memory_tool", "search_memory", "recall"),
    ("documents", "search_library_tool", "search_library", "library"),
    ("librarian", "library_agent_tool", "consult_librarian", ""),
    ("web_search", "web_search_tool", "web_search", "search"),
    ("web_fetch", "web_fetch_tool", "web_fetch", "fetch"),
    ("semantic_scholar", "semantic_scholar_tool", "search_papers", "papers"),
]
"""Program, id, tool, slash command."""
ON_THIS_MACHINE = [row[0] for row in TOOLS[:7]]


NEEDS = {
    "remember_this": ["memory_store"],
    "search_memory": ["memory_store"],
    "documents": ["document_store"],
    "librarian": ["document_store"],
}


def programs() -> dict[str, str]:
    """Module by program, for the tools of supervisord.conf."""
    parser = RawConfigParser()
    parser.read(ROOT / "supervisord.conf", encoding="utf-8")
    commands = {name: parser[name]["command"] for name in parser.sections() if name.startswith("program:")}
    return {
        name.removeprefix("program:"): command.removeprefix("python -m ")
        for name, command in commands.items()
        if "participants.tools." in command
    }


def config_of(program: str) -> ToolConfig:
    config = convert(read_yaml(ROOT / "config" / f"{program}.yaml"), struct_of(program), program)
    assert isinstance(config, ToolConfig)
    return config


def class_of(module: str) -> type[BaseTool]:
    """The participant that a module starts: its own, or the one that its package keeps in tool.py."""
    own = importlib.import_module(module)
    found = importlib.import_module(f"{module}.tool") if hasattr(own, "__path__") else own
    kinds = [kind for kind in vars(found).values() if isinstance(kind, type) and kind.__module__ == found.__name__]
    (tool,) = [kind for kind in kinds if issubclass(kind, BaseTool)]
    return tool


def test_every_tool_is_a_program() -> None:
    assert set(programs()) == {row[0] for row in TOOLS}


@pytest.mark.parametrize(("program", "sender", "tool", "command"), TOOLS)
def test_program_yaml_and_class_have_one_name(program: str, sender: str, tool: str, command: str) -> None:
    config = config_of(program)
    assert (config.id, config.tool) == (sender, tool)
    assert [each.name for each in config.commands] == [command] * bool(command)
    kind = class_of(programs()[program])
    assert (kind.CONFIG_NAME, kind.Config) == (program, struct_of(program))


@pytest.mark.parametrize("program", [row[0] for row in TOOLS])
def test_the_schema_is_one_and_a_command_fits_it(program: str) -> None:
    config = config_of(program)
    Draft202012Validator.check_schema(config.parameters)
    assert config.parameters["type"] == "object"
    required = set(config.parameters.get("required", []))
    arguments = {each.argument for each in config.commands} - {""}
    assert required <= set(config.parameters["properties"])
    assert arguments <= set(config.parameters["properties"])
    assert not config.commands or required <= arguments  # what is typed is enough: no model has to fill in the rest


@pytest.mark.parametrize("program", ON_THIS_MACHINE)
def test_the_first_sentence_says_what_it_does_and_when(program: str) -> None:
    """The small embedded model is shown no more than that."""
    first = " ".join(config_of(program).description.split()).split(". ")[0]
    assert len(first) <= 160
    assert re.search(r"\b(when|whenever)\b", first)


@pytest.mark.parametrize("program", ON_THIS_MACHINE)
def test_it_reaches_no_web_and_asks_for_what_it_needs(program: str) -> None:
    policies = config_of(program).policies
    assert (policies.enabled, policies.web, policies.needs) == (True, False, NEEDS.get(program, []))
    assert policies.untrusted is (program in ("documents", "librarian"))


def test_no_name_or_alias_means_two_tools() -> None:
    words: list[str] = []
    for program, *_ in TOOLS:
        config = config_of(program)
        words += {re.sub(r"[^a-z0-9]", "", name.casefold()) for name in (config.tool, *config.policies.aliases)}
    assert sorted(words) == sorted(set(words))
