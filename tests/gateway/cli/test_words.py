"""Decisions and words of the command line, without a process."""

from __future__ import annotations

import errno
import fcntl
import socket
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from bus import command
from gateway.cli import arguments, browser, control, logs
from gateway.cli.run import run
from gateway.stack import backend, health, layout, preflight, processes, ready, revive, settings, startup
from gateway.stack.errors import ExitCode, StackError
from gateway.stack.layout import Layout
from gateway.stack.processes import tail
from gateway.stack.rpc import Program
from gateway.stack.settings import Place, Wanted


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test here sees this machine's settings."""
    for name in ("LOCAL2_COMMAND", "LOCAL2_GATEWAY__PORT", "OLLAMA_HOST", "LOCAL2_MODELS__BACKEND"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LOCAL2_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def _program(name: str, state: str = "RUNNING", problem: str = "") -> Program:
    return Program(name=name, state=state, pid=1, up_s=1, problem=problem)


class TestReadiness:
    """Each program's state in one word."""

    NAMES = ("proxy", "conversation", "gateway")

    def test_nobody_answers_yet(self) -> None:
        programs = [_program("proxy", "STARTING"), _program("conversation"), _program("gateway", "BACKOFF")]
        assert health.readiness(self.NAMES, programs, None) == {
            "proxy": "starting",
            "conversation": "starting",
            "gateway": "backoff",
        }

    def test_the_gateway_answers_but_hears_nobody(self) -> None:
        programs = [_program(name) for name in self.NAMES]
        assert health.readiness(self.NAMES, programs, {"participants": {}}) == {
            "proxy": "starting",
            "conversation": "starting",
            "gateway": "ready",
        }

    def test_one_heard_means_a_proxy(self) -> None:
        programs = [_program(name) for name in self.NAMES]
        said = {"participants": {"conversation": "ready"}}
        assert set(health.readiness(self.NAMES, programs, said).values()) == {"ready"}

    def test_the_dead_are_not_ready(self) -> None:
        programs = [_program("conversation", "FATAL")]
        said = {"participants": {"conversation": "ready"}}
        assert health.readiness(["conversation", "absent"], programs, said) == {
            "conversation": "fatal",
            "absent": "unknown",
        }


class TestWaiting:
    """What is said while a stack starts."""

    def test_each_thing_is_said_once(self) -> None:
        said: list[tuple[str, str]] = []
        waiting = ready.Waiting(["a", "b"], lambda name, state: said.append((name, state)))
        assert not waiting.update({"a": "starting", "b": "backoff"})
        assert not waiting.update({"a": "ready", "b": "starting"})
        assert not waiting.update({"a": "ready", "b": "backoff"})
        assert waiting.missing() == "b (backoff)"
        assert waiting.update({"a": "ready", "b": "ready"})
        assert said == [("b", "backoff"), ("a", "ready"), ("b", "ready")]

    def test_last_words(self, tmp_path: Path) -> None:
        place = Layout(home=tmp_path, run=tmp_path, logs=tmp_path)
        (tmp_path / "x.log").write_text("one\nsame\nsame\n")
        words = ready.fatal_words(place, _program("x", "FATAL", "Exited too quickly (process log may have details)"))
        assert words.endswith("again and again. Its last words:\n    one\n    same")
        assert ready.fatal_words(place, _program("y", "FATAL", "can't find command 'z'")).endswith("command 'z'.")


class TestSettings:
    """What was asked for, and what runs."""

    @pytest.mark.parametrize("port", [-1, 65536])
    def test_no_port(self, port: int) -> None:
        with pytest.raises(StackError, match="is no port") as caught:
            settings.wanted(port, None)
        assert caught.value.code == ExitCode.USAGE

    @pytest.mark.parametrize("model", ["", "-x", "a b", 'a"b', "a\nb", "$(x)"])
    def test_no_model(self, model: str) -> None:
        with pytest.raises(StackError, match="is no model's name"):
            settings.wanted(None, model)

    @pytest.mark.parametrize("model", ["qwen3:8b", "hf.co/a/b-c_d:Q4", "small", "/my models/50%/x.gguf"])
    def test_models(self, model: str) -> None:
        assert settings.wanted(7801, model).overrides() == {
            "LOCAL2_GATEWAY__PORT": "7801",
            "LOCAL2_MODELS__DEFAULT": model,
        }

    def test_a_file_of_the_users_folder_is_found_from_any(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "x.gguf").touch()
        assert settings.wanted(None, "./x.gguf").model == str(tmp_path / "x.gguf")
        assert settings.wanted(None, "hf.co/a/b/y.gguf").model == "hf.co/a/b/y.gguf"
        monkeypatch.setenv("LOCAL2_EMBEDDED_MODEL", "x.gguf")
        assert settings.passed_on() == {"LOCAL2_EMBEDDED_MODEL": str(tmp_path / "x.gguf")}
        monkeypatch.delenv("LOCAL2_EMBEDDED_MODEL")
        assert settings.passed_on() == {}

    def test_port_from_yaml_is_not_pinned(self, home: Path) -> None:
        (home / "config").mkdir(parents=True)
        (home / "config" / "gateway.yaml").write_text("port: 7802\nhost: '::1'\n")
        assert settings.settled(Wanted()) == Wanted()
        assert settings.place(Wanted()).url == "http://[::1]:7802"
        assert settings.place(Wanted(port=7803)).port == 7803

    def test_port_from_the_environment_is_kept(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LOCAL2_GATEWAY__PORT", "7804")
        assert settings.settled(Wanted()) == Wanted(port=7804)

    def test_any_free_port(self) -> None:
        assert (settings.settled(Wanted(port=0)).port or 0) > 1023

    @pytest.mark.parametrize(
        ("asked", "different"),
        [
            (Wanted(), ""),
            (Wanted(port=7800), ""),
            (Wanted(port=1), "port"),
            (Wanted(model="a"), ""),
            (Wanted(model="small"), ""),
            (Wanted(model="b"), "model"),
        ],
    )
    def test_differs(self, asked: Wanted, different: str) -> None:
        assert asked.differs(Wanted(model="a", embedded="small"), Place("127.0.0.1", 7800)) == different

    def test_what_it_was_started_with(self, tmp_path: Path) -> None:
        place = Layout(home=tmp_path, run=tmp_path, logs=tmp_path)
        assert startup.remembered(place) == Wanted()
        startup.remember(place, Wanted(port=1, embedded="tiny"))
        assert startup.remembered(place) == Wanted(port=1, embedded="tiny")
        place.started_with.write_text('{"colour": 1}')
        assert startup.remembered(place) == Wanted()


class TestPreflight:
    """What keeps a stack from starting."""

    def test_old_python(self) -> None:
        with pytest.raises(StackError, match=r"needs Python 3\.11 or newer; this is 3\.10"):
            preflight.check_python((3, 10))

    def test_no_space(self, tmp_path: Path) -> None:
        with pytest.raises(StackError, match="are needed") as caught:
            preflight.check_space(tmp_path, 1 << 62)
        assert caught.value.code == ExitCode.NO_SPACE

    def test_port_taken(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            with pytest.raises(StackError, match=f"Port {port} is taken by .* \\(pid") as caught:
                preflight.check_port(Place("127.0.0.1", port))
        assert caught.value.code == ExitCode.PORT_TAKEN
        preflight.check_port(Place("127.0.0.1", port))

    @pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, "no space left"), (errno.EACCES, "cannot be used")])
    def test_unusable_home(self, number: int, code: str) -> None:
        error = layout.unusable(Path("/h"), OSError(number, "words"))
        assert code in error.message
        assert error.code == ExitCode.NO_SPACE

    def test_a_home_that_cannot_be(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        home = tmp_path / "file" / "home"
        with pytest.raises(StackError, match="cannot be used: Not a directory"):
            layout.prepare(Layout(home=home, run=home / "run", logs=home / "logs"))


class TestStart:
    """When a started program is there, and when it is not."""

    @pytest.mark.parametrize(
        ("program", "answer", "after_s", "state"),
        [
            (_program("x", "STARTING"), {"x": "ready"}, 0, ""),
            (_program("x"), {"x": "ready"}, 0, "ready"),
            (_program("x"), {"x": "starting"}, 9, ""),
            (_program("x"), {}, 1, ""),
            (_program("x"), {}, 9, "running"),
            (_program("x"), None, 9, "running"),
            (_program("x", "BACKOFF"), {"x": "ready"}, 0, "ended"),
            (_program("x", "FATAL"), {}, 0, "ended"),
            (_program("x", "EXITED"), {}, 0, "ended"),
        ],
    )
    def test_state(self, program: Program, answer: dict[str, str] | None, after_s: float, state: str) -> None:
        start = revive.Start("x", begun=0.0, silent_s=5.0)
        said = None if answer is None else {"participants": answer}
        assert start.state(program, said, after_s) == state

    def test_another_process_means_that_the_first_one_ended(self) -> None:
        start = revive.Start("x", begun=0.0)
        assert start.state(_program("x", "STARTING"), None, 0) == ""
        assert start.state(replace(_program("x"), pid=2), None, 0) == "ended"

    def test_last_words_are_those_of_this_start(self, tmp_path: Path) -> None:
        log, errors = tmp_path / "x.log", tmp_path / "x.err"
        program = replace(_program("x"), logs=(tmp_path / "none", log, errors))
        log.write_text("old\n")
        errors.write_text("Traceback\nx: new\n\n")
        assert revive.last_words(program) == ["old"]
        words = revive.last_words(program, {log: 4})
        assert revive.ended_words(program, words) == "x ended: new"
        assert revive.ended_words(replace(program, problem="no such file"), []) == "x ended: no such file"

    def test_a_log_that_was_rotated_meanwhile(self, tmp_path: Path) -> None:
        (tmp_path / "x.log").write_text("new\n")
        assert tail(tmp_path / "x.log", 5, since=1000) == ["new"]


class TestCommand:
    """What a hint tells the user to type."""

    @pytest.mark.parametrize(
        ("typed", "shown"),
        [(None, "local2 up"), ("", "local2 up"), ("./scripts/run", "./scripts/run up"), ("a b/run", "'a b/run' up")],
    )
    def test_as_it_was_typed(self, monkeypatch: pytest.MonkeyPatch, typed: str | None, shown: str) -> None:
        monkeypatch.setenv("LOCAL2_COMMAND", typed or "")
        assert command.local2("up") == shown

    def test_for_processes_in_other_folders(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        assert command.environment() == {}
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("LOCAL2_COMMAND", "./scripts/run")
        assert command.environment() == {"LOCAL2_COMMAND": str(tmp_path / "scripts" / "run")}

    def test_usage_names_it(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setenv("LOCAL2_COMMAND", "./100%/run")
        with pytest.raises(SystemExit):
            run(["--help"])
        assert capsys.readouterr().out.startswith("usage: ./100%/run [-h]")


class TestRuntimeFolder:
    """A folder of sockets in /tmp is there as long as it is used."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> Layout:
        return Layout(home=tmp_path / "home", run=tmp_path / "run", logs=tmp_path / "logs")

    def test_nothing_is_left(self, place: Layout) -> None:
        with processes.exclusive(place, pytest.fail):
            (place.run / "supervisor.sock").touch()
        assert not place.run.exists()

    def test_one_in_the_home_stays(self, tmp_path: Path) -> None:
        place = Layout(home=tmp_path, run=tmp_path / "run", logs=tmp_path)
        with processes.exclusive(place, pytest.fail):
            assert place.lock.exists()
        assert place.lock.exists()

    def test_a_home_that_is_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "home").touch()
        place = Layout(home=tmp_path / "home", run=tmp_path / "home" / "run", logs=tmp_path)
        with pytest.raises(StackError) as caught, processes.exclusive(place, pytest.fail):
            pytest.fail("nobody can hold it")
        assert caught.value.code == ExitCode.NO_SPACE

    def test_a_participant_that_was_started_by_hand_keeps_it(self, place: Layout) -> None:
        place.run.mkdir()
        with (place.run / "datetime.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with processes.exclusive(place, pytest.fail):
                pass
        assert place.run.exists()

    def test_a_killed_stack_keeps_it_for_the_next_start(self, place: Layout) -> None:
        with processes.exclusive(place, pytest.fail):
            place.pidfile.write_text("1")
        assert place.pidfile.exists()

    def test_who_waited_for_the_lock_is_alone_after_the_folder_is_gone(self, place: Layout) -> None:
        order: list[str] = []
        waits = threading.Event()

        def second() -> None:
            with processes.exclusive(place, waits.set):
                order.append("second")
                assert place.lock.exists()

        with processes.exclusive(place, pytest.fail):
            thread = threading.Thread(target=second)
            thread.start()
            assert waits.wait(10)
            order.append("first")
        thread.join(10)
        assert order == ["first", "second"]
        assert not place.run.exists()


class TestBackend:
    """Who answers."""

    def test_nobody_at_the_named_address(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:1")
        assert backend.find() == backend.Backend(True, "http://127.0.0.1:1", "", named=True, embedding=True)

    def test_an_ollama(self, monkeypatch: pytest.MonkeyPatch, ollama: str) -> None:
        monkeypatch.setenv("OLLAMA_HOST", ollama)
        assert backend.find() == backend.Backend(False, ollama, "0.0.1", named=True)

    @pytest.mark.parametrize(("chosen", "embedded"), [("embedded", True), ("ollama", False)])
    def test_models_yaml_decides(self, monkeypatch: pytest.MonkeyPatch, chosen: str, embedded: bool) -> None:
        monkeypatch.setenv("LOCAL2_MODELS__BACKEND", chosen)
        monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:1")
        assert backend.find().embedded is embedded


class TestCommandLine:
    """What can be typed."""

    @pytest.mark.parametrize("words", [["--headless", "up"], ["up", "--headless"]])
    def test_settings_before_and_after_up(self, words: list[str]) -> None:
        options = arguments.parser().parse_args([*words, "--web-port", "7"] if words[0] == "up" else words)
        assert options.headless is True
        assert options.command == "up"

    def test_settings_before_up_are_kept(self) -> None:
        options = arguments.parser().parse_args(["--web-port", "7", "--model", "m", "up"])
        assert (options.web_port, options.model, options.headless) == (7, "m", False)

    def test_version(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["version"]) == 0
        assert capsys.readouterr().out == "local2 0.1.0\n"

    def test_a_bad_yaml_is_told_with_its_file(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (home / "config").mkdir(parents=True)
        (home / "config" / "gateway.yaml").write_text("port: soon\n")
        assert run(["up", "--headless"]) == ExitCode.FAILED
        assert "gateway.yaml: port: Expected `int`, got `str`" in capsys.readouterr().err

    def test_the_unexpected_has_no_traceback(
        self, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def fail() -> Layout:
            raise RuntimeError("oh")

        monkeypatch.setattr(layout, "current", fail)
        assert run(["status"]) == ExitCode.FAILED
        err = capsys.readouterr().err
        assert err.startswith("local2: something unexpected went wrong: oh")
        assert "Traceback" not in err
        assert "RuntimeError: oh" in (home / "logs" / "local2-error.log").read_text()


@pytest.mark.parametrize(
    ("env", "platform", "program"),
    [
        ({}, "linux", None),
        ({"DISPLAY": ":0"}, "linux", "xdg-open"),
        ({"WAYLAND_DISPLAY": "w"}, "linux", "xdg-open"),
        ({"WSL_DISTRO_NAME": "Debian"}, "linux", "wslview"),
        ({}, "darwin", "open"),
        ({"SSH_CONNECTION": "x"}, "darwin", None),
    ],
)
def test_where_a_browser_can_open(env: dict[str, str], platform: str, program: str | None) -> None:
    assert next((command[0] for command in browser.commands(env, platform)), None) == program


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("plain", "plain"),
        ("{broken", "{broken"),
        ('{"event": "x", "level": "info", "a": 1}', " info    x  a=1"),
        ("[1]", "[1]"),
    ],
)
def test_readable(line: str, shown: str) -> None:
    assert logs.readable(line) == shown


def test_model_lines() -> None:
    said = {
        "backend": {"kind": "ollama", "url": "http://h:1", "state": "ready", "message": ""},
        "roles": [{"role": "default", "model": "q:8b", "available": False, "hint": "ollama pull q:8b"}],
    }
    assert control.model_lines(said) == ["Model: q:8b (Ollama at http://h:1, ready)", "  ollama pull q:8b"]
    assert control.model_lines({}) == ["Model: none answers yet"]
    loading = {"backend": {"kind": "none", "state": "loading"}}
    assert control.model_lines(loading) == ["Model: loading; questions wait for it"]
