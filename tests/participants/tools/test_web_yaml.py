"""What the yaml files of the tools that reach the web have to say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from jsonschema.validators import Draft202012Validator

from bus.config import convert, read_yaml
from gateway.settings import struct_of
from participants.tools.base import ToolConfig

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("program", "tool", "command"),
    [
        ("web_search", "web_search", "search"),
        ("web_fetch", "web_fetch", "fetch"),
        ("semantic_scholar", "search_papers", "papers"),
    ],
)
def test_a_tool_of_the_web_is_off_and_marked(program: str, tool: str, command: str) -> None:
    config = convert(read_yaml(ROOT / "config" / f"{program}.yaml"), struct_of(program), program)
    assert isinstance(config, ToolConfig)
    policies = config.policies
    assert (config.tool, config.id, [each.name for each in config.commands]) == (tool, f"{program}_tool", [command])
    assert (policies.enabled, policies.web, policies.untrusted, policies.idempotent) == (False, True, True, True)
    assert config.critique_rubric_name
    assert len(re.split(r"(?<=\.)\s", config.description)[0]) <= 160
    assert "Call it" in config.description
    Draft202012Validator.check_schema(config.parameters)
    assert config.commands[0].argument in config.parameters["required"]
