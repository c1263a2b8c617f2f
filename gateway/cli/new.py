"""`local2 new tool NAME`: how does a tool of the user's own begin?"""

from __future__ import annotations

import importlib.util
import keyword
import re
import shlex
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path

from bus import config, paths
from bus.command import local2
from bus.errors import ConfigError
from gateway.cli import console, tool_files
from gateway.stack import layout as places
from gateway.stack import render, startup
from gateway.stack.errors import ExitCode, StackError

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_LONGEST = 40
_RESERVED = frozenset({"all", "local2", "supervisord"})
_PROGRAM = re.compile(r"^\[program:([^\]]+)\]", re.MULTILINE)


def new(options: Namespace) -> int:
    """Write a tool that runs as it is, and say what comes next."""
    name: str = options.name
    layout = places.current()
    places.prepare(layout)
    folder = layout.participants
    files = tool_files.files(name)
    check(name, taken(folder))
    _refuse_to_overwrite(folder, files)
    for file, text in files.items():
        _write(folder / file, text)
    console.say(f"Written into {folder}:")
    for file, what in zip(files, ("what the model is told", "what it does", "how it is run", "its test"), strict=True):
        console.say(f"  {file:<{len(name) + 8}} {what}")
    test = shlex.join([sys.executable, str(folder / f"test_{name}.py")])
    console.say(f"It works as it is. So that the next question can use it: {local2('reload')}")
    console.say(f"To run its test: {test}")
    return ExitCode.OK


def check(name: str, taken: Mapping[str, str]) -> None:
    """Whether a tool may have this name.

    Args:
        name: What the user typed.
        taken: Names that are in use, folded, with what has each.

    Raises:
        StackError: It may not; the words say why.
    """
    if not _NAME.fullmatch(name) or len(name) > _LONGEST:
        words = f"{name!r} cannot be a tool's name: lower-case words joined by _ are, such as word_count"
        raise StackError(f"{words} (up to {_LONGEST} characters).", code=ExitCode.USAGE)
    if (owner := taken.get(folded(name))) is not None:
        raise StackError(f"The name {name!r} is taken, or too much like one that is: {owner}.", code=ExitCode.USAGE)
    if keyword.iskeyword(name) or name in _RESERVED or importlib.util.find_spec(name) is not None:
        # It would stand in the way of that module for all tools in the folder.
        raise StackError(
            f"{name!r} means something else to Python or to LoCAL2.", f"Take my_{name}, say.", ExitCode.USAGE
        )


def folded(name: str) -> str:
    """A name without case and separators: a model does not tell Web-Search from web_search."""
    return "".join(char for char in name.casefold() if char.isalnum())


def taken(folder: Path) -> dict[str, str]:
    """The names in use, folded, with what has each: programs, yaml files, tools and their other names."""
    return {folded(name): owner for name, owner in _names(folder)}


def _names(folder: Path) -> Iterator[tuple[str, str]]:
    for name in render.program_names(render.parse(startup.template())):
        yield name, f"the program {name} of LoCAL2"
    for file in sorted(folder.glob("*.conf")):
        for name in _PROGRAM.findall(file.read_text(encoding="utf-8", errors="replace")):
            yield name, f"the program {name} in {file}"
    for place in (paths.defaults_dir() / "config", folder, paths.config_dir()):
        for file in sorted(place.glob("*.yaml")):
            yield file.stem, str(file)
            yield from ((name, f"the tool {name} in {file}") for name in _tools(file))


def _tools(file: Path) -> list[str]:
    """The names by which a model may call the tool of this yaml; none where it is no tool, or broken."""
    try:
        values = config.read_yaml(file)
    except ConfigError:
        return []
    policies = values.get("policies")
    aliases = policies.get("aliases") if isinstance(policies, dict) else None
    names = [values.get("tool"), *(aliases if isinstance(aliases, list) else [])]
    return [name for name in names if isinstance(name, str)]


def _refuse_to_overwrite(folder: Path, files: Mapping[str, str]) -> None:
    there = [str(folder / file) for file in files if (folder / file).exists()]
    if there:
        raise StackError(f"There is already {', '.join(there)}.", "Nothing was written.", ExitCode.USAGE)


def _write(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as out:
            out.write(text)
    except OSError as error:
        raise places.unusable(path, error) from error
