"""How does supervisord.conf of the checkout become the one that a home's supervisord reads?

supervisord expands `%` in every value, splits some at spaces and drops what follows ` ;` or
` #`, so that a path cannot simply be written into the file.
"""

from __future__ import annotations

import configparser
import io
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

from gateway.stack.errors import StackError
from gateway.stack.layout import Layout

_HEADER = (
    "; Rendered by local2 at each start: change supervisord.conf of LoCAL2 or add files to participants/ instead.\n\n"
)
_UNFIT = re.compile(r"[\x00-\x1f\x7f]|\s[;#]")


def render(
    template: str,
    layout: Layout,
    *,
    python: str,
    folder: Path,
    overrides: Mapping[str, str],
    included: Iterable[str],
) -> str:
    """The text of the effective supervisord.conf.

    Args:
        template: The text of the checkout's supervisord.conf.
        layout: Where this stack keeps its files.
        python: The interpreter that runs the participants.
        folder: Where the packages lie; the participants' working directory.
        overrides: Environment variables for all participants.
        included: Patterns of further program files, absolute and without spaces.
    """
    parser = parse(template)
    _set(parser, "unix_http_server", file=literal(layout.socket))
    if os.getuid() == 0:
        _set(parser, "supervisord", user="root")  # on purpose, then: else supervisord calls it critical at each start
    _set(
        parser,
        "supervisord",
        logfile=literal(layout.logs / "supervisord.log"),
        childlogdir=literal(layout.logs),
        pidfile=literal(layout.pidfile),
        environment=_environment(parser, {**overrides, "LOCAL2_HOME": str(layout.home)}),
    )
    _set(parser, "supervisorctl", serverurl="unix://" + literal(layout.socket))
    _set(parser, "include", files=" ".join(literal(pattern) for pattern in included))
    for name in program_names(parser):
        section = f"program:{name}"
        _set(
            parser,
            section,
            command=_command(parser.get(section, "command"), python),
            directory=literal(folder),
            stdout_logfile=literal(layout.logs / f"{name}.log", expansions=2),
        )
    return _HEADER + _text(parser)


def parse(text: str) -> configparser.RawConfigParser:
    """Read a supervisord configuration as supervisord does.

    Raises:
        StackError: It is no such file.
    """
    parser = configparser.RawConfigParser(inline_comment_prefixes=(";", "#"), strict=False)
    parser.optionxform = str  # type: ignore[method-assign,assignment]
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise StackError(f"supervisord.conf cannot be read: {error.message}") from error
    return parser


def program_names(parser: configparser.RawConfigParser) -> list[str]:
    """The programs of a configuration, in its order."""
    return [section.removeprefix("program:") for section in parser.sections() if section.startswith("program:")]


def literal(value: Path | str, expansions: int = 1) -> str:
    """`value` written so that supervisord reads it back unchanged; it expands some values twice.

    Raises:
        StackError: It cannot be written in such a file.
    """
    text = str(value)
    if _UNFIT.search(text):
        raise StackError(
            f"supervisord cannot use {text!r}: it holds a control character, or a space before ';' or '#'.",
            "Use another folder (LOCAL2_HOME, or where LoCAL2 is installed) or another value.",
        )
    return text.replace("%", "%" * 2**expansions)


def quoted(value: str) -> str:
    """`value` as one entry of the `environment=` line of [supervisord] takes it, which is expanded twice.

    Raises:
        StackError: It holds both kinds of quotes.
    """
    quote = "'" if '"' in value else '"'
    if quote in value or value[-1:] in ("'", '"') or value[:1] in ("'", '"'):
        raise StackError(f"supervisord cannot pass {value!r} on: it begins or ends with a quote, or holds both kinds.")
    return quote + literal(value, expansions=2) + quote


def _set(parser: configparser.RawConfigParser, section: str, **values: str) -> None:
    if not parser.has_section(section):
        parser.add_section(section)
    for key, value in values.items():
        parser.set(section, key, value)


def _environment(parser: configparser.RawConfigParser, added: Mapping[str, str]) -> str:
    entries = [parser.get("supervisord", "environment", fallback="")]
    entries += [f"{key}={quoted(value)}" for key, value in added.items()]
    return ",".join(entry for entry in entries if entry)


def _command(command: str, python: str) -> str:
    program, _, rest = command.partition(" ")
    return f"{literal(shlex.quote(python))} {rest}" if program == "python" else command


def _text(parser: configparser.RawConfigParser) -> str:
    out = io.StringIO()
    parser.write(out, space_around_delimiters=False)
    return out.getvalue()
