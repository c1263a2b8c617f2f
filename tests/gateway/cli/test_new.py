"""A tool of the user's own: which names it may have, and that what is written works."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
import yaml

from gateway.cli import new, tool_files
from gateway.cli.run import run
from gateway.stack import layout
from gateway.stack.errors import ExitCode, StackError
from gateway.stack.included import look
from participants.tools.base import ToolConfig

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOCAL2_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LOCAL2_COMMAND", "./scripts/run")
    return tmp_path / "home"


@pytest.mark.parametrize("name", ["dice", "word_count", "a1_b2"])
def test_names(name: str) -> None:
    new.check(name, {})


@pytest.mark.parametrize(
    "name",
    ["", "Dice", "roll-dice", "2dice", "_dice", "dice_", "a__b", "../dice", "dice.conf", "würfel", "a b", "x" * 41],
)
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(StackError, match="cannot be a tool's name") as caught:
        new.check(name, {})
    assert caught.value.code == ExitCode.USAGE


@pytest.mark.parametrize("name", ["class", "json", "yaml", "bus", "participants", "all", "supervisord"])
def test_names_that_mean_something_else(name: str) -> None:
    with pytest.raises(StackError, match="means something else"):
        new.check(name, {})


@pytest.mark.parametrize("name", ["generator", "get_datetime", "getdatetime", "get_time", "models", "notes", "jotter"])
def test_names_that_are_taken(home: Path, name: str) -> None:
    folder = home / "participants"
    folder.mkdir(parents=True)
    (folder / "other.conf").write_bytes(b"\xff\n[program:notes]\n")
    (folder / "pad.yaml").write_text("tool: Jotter\n")
    (folder / "broken.yaml").write_text("tool: [")
    (folder / "odd.yaml").write_text("tool: 5\npolicies: {aliases: 7}\n")
    with pytest.raises(StackError, match="is taken, or too much like one that is"):
        new.check(name, new.taken(folder))


def test_nothing_is_overwritten(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["new", "tool", "dice"]) == ExitCode.OK
    module = home / "participants" / "dice.py"
    module.write_text("mine")
    assert run(["new", "tool", "dice"]) == ExitCode.USAGE
    for name in ("dice.conf", "dice.yaml"):
        (home / "participants" / name).unlink()
    assert run(["new", "tool", "dice"]) == ExitCode.USAGE
    assert f"There is already {module}" in capsys.readouterr().err
    assert sorted(path.name for path in module.parent.iterdir()) == ["dice.py", "test_dice.py"]
    assert module.read_text() == "mine"


def test_it_says_what_comes_next(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["new", "tool", "dice"])
    said = capsys.readouterr().out
    assert "./scripts/run reload" in said
    assert shlex.join([sys.executable, f"{home}/participants/test_dice.py"]) in said


def test_what_is_written_works(home: Path) -> None:
    """The yaml fits, supervisord takes the program file, the test passes, and the linter has nothing to say."""
    run(["new", "tool", "word_count"])
    folder = home / "participants"
    config = msgspec.convert(yaml.safe_load((folder / "word_count.yaml").read_text()), ToolConfig, strict=True)
    assert (config.id, config.tool) == ("word_count_tool", "word_count")
    found = look(layout.current(), [])
    assert (found.programs, found.refused) == (["word_count"], {})
    test = subprocess.run([sys.executable, folder / "test_word_count.py"], capture_output=True, text=True, check=False)
    assert (test.returncode, "Ran 2 tests" in test.stderr) == (0, True), test.stderr
    ruff = shutil.which("ruff", path=Path(sys.executable).parent)
    assert ruff is not None
    lint = subprocess.run([ruff, "check", "--isolated", folder], capture_output=True, text=True, check=False)
    assert lint.returncode == 0, lint.stdout


def test_a_tool_is_short() -> None:
    files = tool_files.files("dice")
    assert len(files["dice.py"].splitlines()) < 40
    assert 'CONFIG_NAME = "dice"' in files["dice.py"]
