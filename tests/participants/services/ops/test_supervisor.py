"""What is read from supervisord."""

from __future__ import annotations

from pathlib import Path

import pytest

from participants.services.ops.decide import Program
from participants.services.ops.supervisor import Supervisor, SupervisorSilent, ending, program_of

LOG = """\
2026-11-30 23:16:06,159 INFO spawned: 'web' with pid 17172
2026-11-30 23:16:06,396 WARN exited: web (exit status 1; not expected)
2026-11-30 23:16:07,396 WARN exited: web (terminated by SIGKILL; not expected)
2026-11-30 23:16:08,396 WARN exited: web_search (terminated by SIGSEGV; not expected)
2026-11-30 23:16:09,396 WARN stopped: a.b (terminated by SIGTERM)
2026-11-30 23:16:09,396 WARN exited: ops (exit status 0; expected)
"""


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("web", "killed by SIGKILL"),
        ("web_search", "killed by SIGSEGV"),
        ("a.b", "killed by SIGTERM"),
        ("a+b", ""),
        ("ops", "exit status 0"),
        ("nobody", ""),
    ],
)
def test_the_last_ending_of_a_program(name: str, reason: str) -> None:
    assert ending(name, LOG) == reason


def row(**other: object) -> dict[str, object]:
    usual = {"name": "web", "group": "web", "statename": "RUNNING", "pid": 7, "now": 90, "start": 60, "exitstatus": 0}
    return {**usual, "spawnerr": "", **other}


def test_a_row_is_read() -> None:
    assert program_of(row()) == Program(name="web", full_name="web", state="RUNNING", pid=7, up_s=30)
    assert program_of(row(group="g")).full_name == "g:web"
    assert program_of(row(pid=0, statename="EXITED", exitstatus=2)).up_s == 0
    assert program_of(row(now=10)).up_s == 0


def test_no_supervisord_is_said_and_does_not_hang(tmp_path: Path) -> None:
    with pytest.raises(SupervisorSilent, match="does not answer"):
        Supervisor(tmp_path / "supervisor.sock").programs()
