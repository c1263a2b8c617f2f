"""Does the tool of docs/writing-a-tool.md work as it stands there?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from participants.tools.base import ToolConfig, ToolFailed

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "writing-a-tool.md").read_text(encoding="utf-8")


def _block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def module() -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "moon_phase"}
    exec(compile(_block("python"), "moon_phase.py", "exec"), names)  # noqa: S102  it is our own text
    return names


def test_it_is_short() -> None:
    assert len([line for line in _block("python").splitlines() if line.strip()]) < 40


def test_the_yaml_fits_the_module(module: dict[str, Any]) -> None:
    config = msgspec.convert(yaml.safe_load(_block("yaml")), ToolConfig, strict=True)
    assert config.tool == module["MoonPhaseTool"].CONFIG_NAME
    assert len(config.description.split(". ")[0]) < 160


@pytest.mark.parametrize(("day", "phase"), [("2000-01-06", "new"), ("2025-01-13", "full"), ("2024-12-15", "full")])
def test_it_knows_the_moon(module: dict[str, Any], day: str, phase: str) -> None:
    assert f"the moon is {phase}" in module["work"](day)


def test_what_is_no_date_gets_words(module: dict[str, Any]) -> None:
    with pytest.raises(ToolFailed, match="is no date: call again"):
        module["work"]("soon")
