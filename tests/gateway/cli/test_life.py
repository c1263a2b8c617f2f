"""From start to stop: the real supervisord, with small programs in place of the participants."""

from __future__ import annotations

import os
import signal
import socket
import subprocess

import psutil
import pytest

from gateway.stack.errors import ExitCode
from tests.gateway.cli.conftest import Local2

pytestmark = pytest.mark.stack


def test_up_status_down(local2: Local2) -> None:
    said = local2.up()
    assert [line.split()[:2] for line in said.splitlines() if line.startswith("  ")] == [
        [name, "ready"] for name in _order(said)
    ]
    assert f"http://127.0.0.1:{local2.port}" in said

    status = local2.run("status")
    assert status.returncode == 0, status.stdout + status.stderr
    assert str(local2.supervisord().pid) in status.stdout
    assert "m:1b (embedded, ready)" in status.stdout
    assert status.stdout.count(" ready ") == 3

    down = local2.run("down")
    assert down.returncode == 0
    assert local2.processes() == []
    assert local2.run("status").returncode == ExitCode.NOT_RUNNING
    assert local2.run("down").returncode == 0, "twice is fine"
    assert not local2.runtime.exists(), "a home with a space in its path has its sockets in /tmp"


def _order(said: str) -> list[str]:
    return [line.split()[0] for line in said.splitlines() if line.startswith("  ")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_foreground_leaves_nothing_behind(local2: Local2, number: signal.Signals) -> None:
    foreground = local2.foreground()
    foreground.until("Ctrl-C stops everything")
    assert len(local2.processes()) == 5
    assert foreground.end(number) == 0
    assert "Stopped." in foreground.said
    assert local2.processes() == []
    assert not local2.runtime.exists()


def test_interrupt_while_it_starts(local2: Local2) -> None:
    local2.environment["HEALTHY"] = "nobody"
    foreground = local2.foreground()
    foreground.until("gateway")
    assert foreground.end(signal.SIGINT) == ExitCode.INTERRUPTED
    assert local2.processes() == []


def test_second_interrupt_kills_what_does_not_listen(local2: Local2) -> None:
    local2.programs({"proxy": "standins.idle", "conversation": "standins.idle deaf", "gateway": "standins.web"})
    foreground = local2.foreground()
    foreground.until("Ctrl-C stops everything")
    foreground.process.send_signal(signal.SIGINT)
    foreground.until("gateway")
    assert foreground.end(signal.SIGINT) == 0
    assert local2.processes() == []


def test_down_ends_a_foreground_stack(local2: Local2) -> None:
    foreground = local2.foreground()
    foreground.until("Ctrl-C stops everything")
    assert local2.run("down").returncode == 0
    assert foreground.end() == 0
    assert "stopped from elsewhere" in foreground.said


def test_second_start_joins_the_first(local2: Local2) -> None:
    local2.up()
    pid = local2.supervisord().pid
    again = local2.run("--headless")
    assert again.returncode == 0
    assert again.stdout == f"LoCAL2 runs already (supervisord, pid {pid}): http://127.0.0.1:{local2.port}\n"
    other = local2.run("up", "--web-port", str(local2.port + 1))
    assert other.returncode == ExitCode.OTHER_SETTINGS
    assert "with another port" in other.stderr
    assert local2.run("up", "--model", "qwen3:8b").returncode == ExitCode.OTHER_SETTINGS


def test_two_starts_at_once_make_one_stack(local2: Local2) -> None:
    words = local2.command("up", "--headless", "--web-port", str(local2.port))
    both = [subprocess.Popen(words, env=local2.environment, stdout=subprocess.DEVNULL, cwd="/") for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    assert len(local2.processes()) == 4


def test_start_after_a_killed_supervisord(local2: Local2) -> None:
    local2.up()
    left = local2.processes()
    local2.supervisord().kill()
    said = local2.up()
    assert "Ready in" in said
    assert len(local2.processes()) == 4
    assert not {process.pid for process in left} & {process.pid for process in local2.processes()}


def test_killed_supervisord_is_told_and_cleared(local2: Local2) -> None:
    foreground = local2.foreground()
    foreground.until("Ctrl-C stops everything")
    local2.supervisord().kill()
    assert foreground.end() == ExitCode.FAILED
    assert "supervisord ended unexpectedly" in foreground.said
    assert local2.processes() == []


def test_hung_supervisord_is_ended(local2: Local2) -> None:
    local2.up()
    local2.supervisord().suspend()
    assert local2.run("down").returncode == 0
    assert local2.processes() == []


def test_port_taken(local2: Local2) -> None:
    with socket.create_server(("127.0.0.1", local2.port)):
        done = local2.run("up", "--web-port", str(local2.port))
    assert done.returncode == ExitCode.PORT_TAKEN
    assert f"Port {local2.port} is taken by {psutil.Process().name()} (pid {os.getpid()})" in done.stderr
    assert f"local2 --web-port {local2.port + 1}" in done.stderr
    assert not local2.runtime.exists()


def test_a_program_that_cannot_start(local2: Local2) -> None:
    local2.programs({"proxy": "standins.idle", "conversation": "standins.absent", "gateway": "standins.web"})
    local2.environment["HEALTHY"] = "nobody"
    done = local2.run("up", "--headless", "--web-port", str(local2.port))
    assert done.returncode == ExitCode.FAILED
    assert "conversation could not be started: it ended at once" in done.stderr
    assert "No module named standins.absent" in done.stderr
    assert "Traceback" not in done.stderr
    assert local2.processes() == []


def test_restart_replaces_one_process(local2: Local2) -> None:
    local2.up()
    before = {process.pid for process in local2.processes()}
    assert local2.run("restart", "conversation").returncode == 0
    after = {process.pid for process in local2.processes()}
    assert len(before & after) == 3
    assert len(after) == 4
    unknown = local2.run("restart", "nobody")
    assert unknown.returncode == ExitCode.USAGE
    assert "There are: conversation, gateway, proxy" in unknown.stderr


def test_restart_says_at_once_why_a_program_ended(local2: Local2) -> None:
    local2.environment["LOCAL2_COMMAND"] = "./scripts/run"
    local2.up()
    (local2.checkout / "standins" / "idle.py").write_text("raise SystemExit('x.yaml: key: expected a number')\n")
    done = local2.run("restart", "conversation")
    assert done.returncode == ExitCode.FAILED
    assert "conversation ended: x.yaml: key: expected a number\n" in done.stderr
    assert "All that it wrote: ./scripts/run logs NAME" in done.stderr
    status = local2.run("status").stdout
    assert "x.yaml: key: expected a number" in status


def test_dropped_in_participants(local2: Local2) -> None:
    folder = local2.home / "participants"
    folder.mkdir(parents=True)
    (folder / "good one.conf").write_text("[program:extra]\ncommand=python -m standins.idle\nautostart=false\n")
    (folder / "bad.conf").write_text("[program:broken]\nstartsecs=soon\n")
    local2.environment["HEALTHY"] = "conversation,late,later"
    done = local2.run("up", "--headless", "--web-port", str(local2.port))
    assert done.returncode == 0, done.stderr
    assert "participants/bad.conf is left out:" in done.stderr
    assert "extra" in local2.run("status").stdout

    (folder / "late.conf").write_text("[program:late]\ncommand=python -m standins.idle\nautostart=false\n")
    late = local2.run("restart", "late")
    assert late.returncode == 0, late.stderr
    assert late.stdout.split() == ["late", "ready"]
    assert len(local2.processes()) == 6

    (folder / "late.conf").write_text("[program:later]\ncommand=python -m standins.idle\nautostart=false\n")
    (folder / "good one.conf").write_text("[program:extra]\ncommand=python -c 'import absent'\nautostart=false\n")
    changed = local2.run("reload")
    assert changed.returncode == ExitCode.FAILED
    assert [line.split()[:2] for line in changed.stdout.splitlines()] == [
        ["late", "removed"],
        ["extra", "ended"],
        ["later", "ready"],
    ]
    assert "extra ended: ModuleNotFoundError: No module named 'absent'" in changed.stderr
    assert "participants/bad.conf is left out" in changed.stderr


def test_logs(local2: Local2) -> None:
    local2.up()
    assert "here conversation" in local2.run("logs", "conversation").stdout
    everything = local2.run("logs").stdout
    assert "here proxy" in everything
    assert "supervisord started with pid" in everything
    assert "running as root" not in everything
    assert local2.run("logs", "nobody").returncode == ExitCode.FAILED


def test_logs_follow(local2: Local2) -> None:
    local2.up()
    log = local2.home / "logs" / "conversation.log"
    words = local2.command("logs", "conversation", "-f")
    with subprocess.Popen(words, env=local2.environment, stdout=subprocess.PIPE, text=True, cwd="/") as follower:
        assert follower.stdout is not None
        assert follower.stdout.readline() == "here conversation\n"
        with log.open("a") as out:
            out.write('{"event": "turn", "level": "info", "timestamp": "2026-01-01T00:00:00.000Z", "n": 1}\n')
        assert follower.stdout.readline() == "2026-01-01T00:00:00.000 info    turn  n=1\n"
        follower.send_signal(signal.SIGINT)
        assert follower.wait(10) == ExitCode.INTERRUPTED


def test_home_that_is_a_file(local2: Local2) -> None:
    local2.home.write_text("")
    done = local2.run("up")
    assert done.returncode == ExitCode.NO_SPACE
    assert "Traceback" not in done.stderr
