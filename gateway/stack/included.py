"""Which of the program files that a user dropped into `participants/` may supervisord read?

One bad file would keep supervisord from starting, and a file that names a program of ours
again would change that program.
"""

from __future__ import annotations

import configparser
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from gateway.stack.errors import StackError
from gateway.stack.layout import Layout
from gateway.stack.render import literal, parse, program_names


@dataclass
class Included:
    """The result of a look into `participants/`.

    Args:
        patterns: What goes on supervisord's include line.
        programs: The names of the programs in the good files.
        refused: File name to the reason why it is left out.
    """

    patterns: list[str]
    programs: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


def look(layout: Layout, taken: Iterable[str]) -> Included:
    """Check each dropped-in file; `taken` are the program names that they may not use."""
    link = layout.participants_link
    found = Included(patterns=[f"{link}/*.conf"])
    names, good = set(taken), list[Path]()
    for path in sorted(layout.participants.glob("*.conf")):
        try:
            programs = _programs(path, names, here=link)
        except (StackError, OSError, ValueError) as error:
            found.refused[path.name] = str(error).replace(str(link), str(layout.participants))
            continue
        good.append(path)
        names.update(programs)
        found.programs += programs
    if found.refused:
        found.patterns = [_pattern(link / path.name) for path in good]
    return found


def _programs(path: Path, taken: set[str], here: Path) -> list[str]:
    parser = parse(path.read_text(encoding="utf-8"))
    for section in parser.sections():
        if not section.startswith("program:"):
            raise StackError(f"it may hold [program:NAME] sections only, not [{section}]")
    programs = program_names(parser)
    for name in programs:
        if name in taken:
            raise StackError(f"the program name {name!r} is taken")
    _ask_supervisor(parser, here)
    return programs


def _ask_supervisor(parser: configparser.RawConfigParser, here: Path) -> None:
    """Let supervisord's own reader judge the file.

    Raises:
        ValueError: It refuses the file.
    """
    from supervisor.options import ServerOptions  # heavy, and only needed where somebody dropped in a file

    options = ServerOptions()
    with tempfile.TemporaryDirectory(prefix="local2-check-") as folder:
        probe = Path(folder) / "supervisord.conf"
        parser.add_section("supervisord")
        with probe.open("w", encoding="utf-8") as out:
            parser.write(out)
        options.configfile = str(probe)
        options.here = str(here)  # as supervisord will reach the file: no `%` or space in it
        options.read_config(str(probe))


def _pattern(path: Path) -> str:
    """A glob that finds just this file, without a space in it."""
    escaped = "".join(f"[{char}]" if char in "[*?" else "?" if char.isspace() else char for char in str(path))
    literal(escaped)
    return escaped
