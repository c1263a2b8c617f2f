"""scripts/run and scripts/setup.py: what they do before anything of ours can run."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-node.lock")


@pytest.fixture
def setup() -> ModuleType:
    spec = importlib.util.spec_from_file_location("local2_setup", ROOT / "scripts" / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _find_python(folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    sh = shutil.which("sh") or "/bin/sh"
    code = f'. "{ROOT}/scripts/lib.sh"; find_python && echo "$PYTHON"'
    return subprocess.run(
        [sh, "-c", code], env={"PATH": str(folder), **env}, capture_output=True, text=True, check=False
    )


def _fake(folder: Path, name: str, version: str, *, venv: bool = True) -> None:
    program = folder / name
    new = int(version.split(".")[1]) >= 11
    program.write_text(
        f'#!/bin/sh\ncase "$2" in\n*print*) echo {version} ;;\n*exit*) exit {0 if new else 1} ;;\n'
        f"*ensurepip*) exit {0 if venv else 1} ;;\nesac\n"
    )
    program.chmod(0o755)


def test_the_newest_tested_python_is_taken(tmp_path: Path) -> None:
    for name, version in (("python3", "3.9"), ("python3.11", "3.11"), ("python3.12", "3.12")):
        _fake(tmp_path, name, version)
    assert _find_python(tmp_path).stdout == "python3.12\n"


def test_a_shim_that_does_not_work_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "python3.13").write_text("#!/bin/sh\nexit 127\n")
    (tmp_path / "python3.13").chmod(0o755)
    _fake(tmp_path, "python3", "3.11")
    assert _find_python(tmp_path).stdout == "python3\n"


def test_too_old(tmp_path: Path) -> None:
    _fake(tmp_path, "python3", "3.9")
    done = _find_python(tmp_path)
    assert done.returncode != 0
    assert "needs Python 3.11 or newer. Found: python3 is 3.9;" in done.stderr


def test_no_python_at_all(tmp_path: Path) -> None:
    done = _find_python(tmp_path)
    assert done.returncode != 0
    assert "needs Python 3.11 or newer.\n" in done.stderr


def test_python_without_venv(tmp_path: Path) -> None:
    _fake(tmp_path, "python3", "3.12", venv=False)
    assert "apt-get install python3-venv" in _find_python(tmp_path).stderr


def _checkout(folder: Path) -> Path:
    """A checkout whose environment stands and whose `local2` says how it was called."""
    checkout = folder / "check out"
    (checkout / ".venv" / "bin").mkdir(parents=True)
    shutil.copytree(ROOT / "scripts", checkout / "scripts")
    (checkout / ".venv" / ".local2-venv").write_text(f"{checkout}\n")
    python = checkout / ".venv" / "bin" / "python"
    python.write_text('#!/bin/sh\necho "$LOCAL2_COMMAND|$(pwd)|$*"\n')
    python.chmod(0o755)
    return checkout


@pytest.mark.parametrize(
    ("folder", "typed", "named"),
    [
        (".", "./scripts/run", "./scripts/run"),
        ("scripts", "./run", "./run"),
        ("..", "check out/scripts/run", "check out/scripts/run"),
        ("scripts", "sh run", "./run"),
    ],
)
def test_run_names_itself_as_it_was_typed_and_stays_where_it_was_called(
    tmp_path: Path, folder: str, typed: str, named: str
) -> None:
    checkout = _checkout(tmp_path)
    words = ["sh", "run"] if typed == "sh run" else [typed]
    done = subprocess.run([*words, "logs", "a b"], cwd=checkout / folder, capture_output=True, text=True, check=True)
    here = (checkout / folder).resolve()
    assert done.stdout == f"{named}|{here}|-P -m gateway.cli logs a b\n"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (["ERROR: Could not install: [Errno 28] No space left on device"], "no space left"),
        (["ERROR: No matching distribution found for x==1"], "Is there a network"),
        (["ERROR: THESE PACKAGES DO NOT MATCH THE HASHES"], "DO NOT MATCH THE HASHES"),
        (["something", "else"], "    something\n    else"),
    ],
)
def test_pip_words(setup: ModuleType, said: list[str], words: str) -> None:
    assert words in setup.pip_words(said)


def test_only_the_packages_of_a_lock_are_counted(setup: ModuleType) -> None:
    assert setup.packages_in(ROOT / "requirements-node.lock") == 1


@pytest.mark.parametrize("name", LOCKS)
def test_locks_are_pinned_hashed_and_name_no_index(name: str) -> None:
    text = (ROOT / name).read_text()
    entries = re.split(r"\n(?=\S)", text.strip())[1:]
    assert entries
    assert [entry.split()[0] for entry in entries if not re.match(r"\S+==\S+", entry)] == []
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert "://" not in text
    assert "--index-url" not in text


def test_the_dev_lock_holds_the_other_one() -> None:
    runtime, dev = (set(re.findall(r"^(\S+==\S+)", (ROOT / name).read_text(), re.MULTILINE)) for name in LOCKS[:2])
    assert runtime <= dev


def test_every_program_is_held_apart_by_the_import_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    apart = next(contract["modules"] for contract in contracts if contract["type"] == "independence")
    programs = re.findall(r"^command=python -m (\S+)$", (ROOT / "supervisord.conf").read_text(), re.MULTILINE)
    assert set(programs) - {"bus.proxy"} == set(apart)


def test_scripts_may_be_called() -> None:
    for name in ("scripts/run", "scripts/test", "scripts/check", "scripts/lock", ".ci/run"):
        assert os.access(ROOT / name, os.X_OK), name
