"""Does docs/reference/cli.md name every command and option that can be typed?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from gateway.cli.arguments import parser

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")


def _words(command: argparse.ArgumentParser, path: str = "local2") -> Iterator[str]:
    yield f"`{path}"
    for action in command._actions:  # argparse has no public way to them
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from _words(inner, f"{path} {name}")
        else:
            yield from [option for option in action.option_strings if option not in ("-h", "--help")][-1:]


def test_every_word_is_there() -> None:
    short = {"--follow": "-f", "--lines": "-n"}
    assert [word for word in _words(parser()) if word not in TEXT and short.get(word, word) not in TEXT] == []
