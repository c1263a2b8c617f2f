"""What supervisord reads must be what was meant, whatever stands in a path."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from supervisor.options import ServerOptions

from gateway.stack import included, render
from gateway.stack.errors import StackError
from gateway.stack.layout import Layout, prepare

TEMPLATE = """
[unix_http_server]
file=/x
[supervisord]
environment=PYTHONDONTWRITEBYTECODE=""
[supervisorctl]
serverurl=unix:///x
[include]
files=/x
[program:proxy]
command=python -m bus.proxy
directory=%(here)s
stdout_logfile=/x/%(program_name)s.log
"""
NAMES = ["plain", "with space", "100%", "%(home)s", "%s", "it's", 'say "hi" twice', "a#b;c", "ünï", "a=b,c", "[x]*?"]


@pytest.fixture
def layout(tmp_path: Path, request: pytest.FixtureRequest) -> Layout:
    home = tmp_path / getattr(request, "param", "home")
    made = Layout(home=home, run=tmp_path / "run", logs=home / "logs")
    prepare(made)
    return made


def _read(layout: Layout, text: str) -> Any:
    """What supervisord takes from its [supervisord] section, with the programs that it found."""
    layout.conf.write_text(text)
    options = ServerOptions()
    options.configfile = str(layout.conf)
    options.here = str(layout.conf.parent)
    return options.read_config(str(layout.conf))


def _render(layout: Layout, python: str = "/usr/bin/python3", **overrides: str) -> str:
    patterns = included.look(layout, ["proxy"]).patterns
    return render.render(TEMPLATE, layout, python=python, folder=layout.home, overrides=overrides, included=patterns)


@pytest.mark.parametrize("layout", NAMES, indirect=True)
def test_supervisord_reads_paths_back(layout: Layout) -> None:
    python = str(layout.home / "bin" / "python")
    options = _read(layout, _render(layout, python))
    (group,) = options.process_group_configs
    (program,) = group.process_configs
    assert program.directory == str(layout.home)
    assert program.stdout_logfile == str(layout.logs / "proxy.log")
    assert program.environment == {"PYTHONDONTWRITEBYTECODE": "", "LOCAL2_HOME": str(layout.home)}
    assert options.logfile == str(layout.logs / "supervisord.log")
    assert shlex.split(program.command) == [python, "-m", "bus.proxy"]


@pytest.mark.parametrize("value", ["qwen3:8b", "hf.co/a/b:Q4_K_M", "my model 5%.gguf", "x'y", 'x"y'])
def test_overrides_reach_the_participants(layout: Layout, value: str) -> None:
    options = _read(layout, _render(layout, LOCAL2_MODELS__DEFAULT=value))
    assert options.process_group_configs[0].process_configs[0].environment["LOCAL2_MODELS__DEFAULT"] == value


@pytest.mark.parametrize("name", ["a ;b", "a #b", "a\nb", "a\tb"])
def test_what_cannot_be_written_is_refused(layout: Layout, name: str) -> None:
    with pytest.raises(StackError, match="supervisord cannot use"):
        _render(layout, python=f"/{name}/python")


@pytest.mark.parametrize(("uid", "line"), [(0, True), (1000, False)])
def test_root_is_said_to_be_meant(layout: Layout, monkeypatch: pytest.MonkeyPatch, uid: int, line: bool) -> None:
    monkeypatch.setattr("os.getuid", lambda: uid)
    text = render.render(TEMPLATE, layout, python="/p", folder=layout.home, overrides={}, included=[])
    assert ("user=root" in text.splitlines()) is line


@pytest.mark.parametrize("value", ["\"'", "'", '"'])
def test_quotes_that_cannot_be_passed_on(value: str) -> None:
    with pytest.raises(StackError, match="cannot pass"):
        render.quoted(value)


def test_a_broken_template_is_told(layout: Layout) -> None:
    with pytest.raises(StackError, match=r"supervisord\.conf cannot be read"):
        render.parse("no section")


class TestIncluded:
    """Program files that a user dropped in."""

    def _drop(self, layout: Layout, name: str, text: str) -> None:
        (layout.participants / name).write_text(text)

    def _programs(self, layout: Layout) -> list[str]:
        return [group.name for group in _read(layout, _render(layout)).process_group_configs]

    @pytest.mark.parametrize("layout", ["home", "a home %s"], indirect=True)
    def test_good_ones_are_read(self, layout: Layout) -> None:
        self._drop(layout, "notes.conf", "[program:notes]\ncommand=python notes.py\ndirectory=%(here)s\n")
        found = included.look(layout, ["proxy"])
        assert (found.programs, found.refused) == (["notes"], {})
        assert sorted(self._programs(layout)) == ["notes", "proxy"]

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("nonsense", "cannot be read"),
            ("[program:x]\n", "does not specify a command"),
            ("[program:x]\ncommand=y\nstartsecs=soon\n", "soon"),
            ("[program:x]\ncommand=y %(ENV_NOT_SET_ANYWHERE)s\n", "ENV_NOT_SET_ANYWHERE"),
            ("[program:x]\ncommand=100%\n", "badly formatted"),
            ("[program:proxy]\ncommand=y\n", "'proxy' is taken"),
            ("[supervisord]\nlogfile=/x\n", r"not \[supervisord\]"),
            ("[group:all]\nprograms=proxy\n", r"not \[group:all\]"),
        ],
    )
    def test_bad_ones_are_left_out(self, layout: Layout, text: str, reason: str) -> None:
        self._drop(layout, "bad one [1].conf", text)
        self._drop(layout, "good one [2].conf", '[program:good]\ncommand=y\nenvironment=A="1",\n  B="2"\n')
        found = included.look(layout, ["proxy"])
        assert list(found.refused) == ["bad one [1].conf"]
        with pytest.raises(ValueError, match=reason):
            raise ValueError(found.refused["bad one [1].conf"])
        assert sorted(self._programs(layout)) == ["good", "proxy"]

    def test_one_name_twice(self, layout: Layout) -> None:
        for name in ("a.conf", "b.conf"):
            self._drop(layout, name, "[program:same]\ncommand=y\n")
        assert list(included.look(layout, []).refused) == ["b.conf"]

    def test_binary_file(self, layout: Layout) -> None:
        (layout.participants / "b.conf").write_bytes(b"\xff\xfe\x00")
        assert list(included.look(layout, []).refused) == ["b.conf"]
