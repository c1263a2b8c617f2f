"""A SearXNG of the user's own: its files, its container (a stand-in for docker), and what it answers."""

from __future__ import annotations

import socket
import stat
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest
import yaml

from gateway.cli.run import run
from gateway.stack import searxng
from gateway.stack.errors import ExitCode
from gateway.stack.searxng_probe import ask
from tests.support.stack import free_port

Capture = pytest.CaptureFixture[str]
NO_QUERY = (400, "application/json", b'{"error": "No query"}')


class Searxng:
    """Something that listens where a SearXNG should."""

    def __init__(self) -> None:
        self.answer: tuple[int, str, bytes] = NO_QUERY
        self.asked: list[str] = []
        self.silent = Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                status, kind, body = server.answer
                if not status:
                    server.silent.wait(10)
                self.send_response(status or 200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = int(self.server.server_address[1])
        self.url = f"http://127.0.0.1:{self.port}"


@pytest.fixture
def server() -> Iterator[Searxng]:
    made = Searxng()
    with made.server:
        thread = Thread(target=made.server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield made
        made.silent.set()
        made.server.shutdown()
        thread.join()


class Bin:
    """The PATH: only what a test puts there. A program notes what it was called with."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.calls = folder, folder / "calls"
        folder.mkdir()

    def put(self, name: str, *, compose: int = 0, up: int = 0) -> None:
        program = self.folder / name
        program.write_text(
            f'#!/bin/sh\n[ "$2" = version ] && exit {compose}\n'
            f'echo "{name} $*" >>"{self.calls}"\necho pulling\nexit {up}\n'
        )
        program.chmod(0o755)

    @property
    def called(self) -> list[str]:
        return self.calls.read_text().splitlines() if self.calls.exists() else []


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOCAL2_HOME", str(tmp_path / "a home"))
    monkeypatch.delenv("LOCAL2_COMMAND", raising=False)
    monkeypatch.delenv("LOCAL2_WEB_SEARCH__URL", raising=False)
    return tmp_path / "a home"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bin:
    made = Bin(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(made.folder))
    return made


def _mode(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


def test_up_writes_starts_and_points_the_tool_there(home: Path, path: Bin, server: Searxng, capfd: Capture) -> None:
    path.put("docker")
    assert run(["searxng", "up", "--port", str(server.port)]) == ExitCode.OK
    folder = home / "searxng"
    compose, settings = folder / "compose.yaml", folder / "settings.yml"
    service = yaml.safe_load(compose.read_text())["services"]["searxng"]
    assert service["ports"] == [f"127.0.0.1:{server.port}:8080"]
    assert service["image"].partition(":")[2] not in ("", "latest")
    assert len(service["environment"]["SEARXNG_SECRET"]) == 64
    chosen = yaml.safe_load(settings.read_text())
    assert (chosen["search"]["formats"], chosen["server"]["limiter"]) == (["html", "json"], False)
    assert (_mode(folder), _mode(compose), _mode(settings)) == (0o700, 0o600, 0o644)
    assert path.called == [f"docker compose -f {compose} up -d --force-recreate"]
    assert yaml.safe_load((home / "config" / "web_search.yaml").read_text()) == {"url": server.url}
    said = capfd.readouterr().out
    assert "pulling" in said
    assert f"SearXNG answers at {server.url}, in JSON." in said
    assert "The web is off, so web_search does not ask it." in said
    assert set(server.asked) == {"/search?format=json"}, "no search leaves the machine"

    assert run(["searxng", "down"]) == ExitCode.OK
    assert path.called[-1] == f"docker compose -f {compose} down"
    assert compose.exists()


def test_what_the_user_changed_stays(home: Path, path: Bin, server: Searxng, capfd: Capture) -> None:
    path.put("podman")
    searxng.files().write(server.port)
    settings, compose = home / "searxng" / "settings.yml", home / "searxng" / "compose.yaml"
    settings.write_text("mine")
    before = compose.read_text()
    (home / "config").mkdir()
    tool = home / "config" / "web_search.yaml"
    tool.write_text("url: https://search.example  # mine\n")
    assert run(["searxng", "up", "--port", "1234"]) == ExitCode.OK
    assert (settings.read_text(), compose.read_text()) == ("mine", before)
    assert tool.read_text() == "url: https://search.example  # mine\n"
    said = capfd.readouterr()
    assert said.out.count("there already, and left as it is") == 2
    assert "--port counts only before that file is there" in said.out
    assert "names another SearXNG, https://search.example: that stays" in said.err
    assert path.called == [f"podman compose -f {compose} up -d --force-recreate"]


def test_two_secrets_and_two_projects_for_two_homes(tmp_path: Path) -> None:
    texts: set[tuple[str, str]] = set()
    for name in ("one", "two"):
        files = searxng.Files(tmp_path / name)
        files.write(7880)
        values = yaml.safe_load(files.compose.read_text())
        texts.add((values["name"], values["services"]["searxng"]["environment"]["SEARXNG_SECRET"]))
    assert len({name for name, _ in texts}) == len({secret for _, secret in texts}) == 2


@pytest.mark.parametrize(
    ("programs", "words"),
    [
        ({}, "Neither docker nor podman is here, so SearXNG cannot be started from here."),
        ({"docker": 1}, "docker is here, but `docker compose` does not work, so"),
    ],
)
def test_without_compose_it_says_what_to_do(
    home: Path, path: Bin, capfd: Capture, programs: dict[str, int], words: str
) -> None:
    for name, code in programs.items():
        path.put(name, compose=code)
    assert run(["searxng", "up"]) == ExitCode.FAILED
    said = capfd.readouterr().err
    assert words in said
    assert f"docker compose -f '{home}/searxng/compose.yaml' up -d" in said
    assert (home / "searxng" / "settings.yml").exists(), "the files are there for that command"


def test_podman_where_docker_lacks_compose(path: Bin) -> None:
    path.put("docker", compose=1)
    path.put("podman")
    assert searxng.engine() == [str(path.folder / "podman"), "compose"]


def test_a_container_that_cannot_start(home: Path, path: Bin, capfd: Capture) -> None:
    path.put("docker", up=17)
    assert run(["searxng", "up"]) == ExitCode.FAILED
    assert "`docker compose up` failed with exit code 17; its words are above." in capfd.readouterr().err
    assert not (home / "config" / "web_search.yaml").exists()


def test_down_where_nothing_was_set_up(path: Bin) -> None:
    assert run(["searxng", "down"]) == ExitCode.OK
    assert path.called == []


def test_a_port_that_is_none(home: Path) -> None:
    assert run(["searxng", "up", "--port", "99999"]) == ExitCode.USAGE
    assert not (home / "searxng").exists()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (NO_QUERY, ""),
        ((200, "application/json", b'{"results": []}'), ""),
        ((403, "text/html", b"<html>403 Forbidden"), "`search: formats: [html, json]` is missing in its settings.yml"),
        ((200, "text/html", b"\n<!doctype html>"), "`search: formats: [html, json]` is missing in its settings.yml"),
        ((429, "text/html", b"Too Many Requests"), "`server: limiter: false` is missing in its settings.yml"),
        ((200, "application/json", b"[1]"), "does not answer as SearXNG does (status 200)"),
        ((200, "application/json", b"{}"), "does not answer as SearXNG does (status 200)"),
        ((200, "application/json", b"[" * 100_000), "does not answer as SearXNG does (status 200)"),
        ((200, "text/plain", b"\xff\x00"), "does not answer as SearXNG does (status 200)"),
        ((500, "text/html", b"<html>"), "does not answer as SearXNG does (status 500)"),
        ((0, "", b""), "It does not answer within 0.2 s."),
    ],
)
def test_what_it_answers(server: Searxng, answer: tuple[int, str, bytes], words: str) -> None:
    server.answer = answer
    fault = ask(server.url, timeout_s=5 if answer[0] else 0.2)
    assert words in fault
    assert bool(fault) == bool(words)


@pytest.mark.parametrize("url", ["", "ftp://x", "http://x:port", "127.0.0.1:80", "http://x:99999", "http://a b/"])
def test_what_is_no_address(url: str) -> None:
    assert "is no address such as" in ask(url)


def test_something_that_is_no_web_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"SSH-2.0\r\n")

        thread = Thread(target=answer)
        thread.start()
        assert "cannot be reached" in ask(f"http://127.0.0.1:{listener.getsockname()[1]}")
        thread.join()


def test_status_where_nothing_runs(capsys: Capture) -> None:
    searxng.files().write(free_port())
    assert run(["searxng", "status"]) == ExitCode.NOT_RUNNING
    said = capsys.readouterr().err
    assert "Nothing runs there." in said
    assert "To start one: local2 searxng up" in said


def test_status_asks_where_the_tool_does_and_names_the_file(home: Path, server: Searxng, capsys: Capture) -> None:
    searxng.files().write(server.port)
    server.answer = (403, "text/html", b"<html>")
    assert run(["searxng", "status"]) == ExitCode.FAILED
    assert f"is missing in its settings.yml ({home}/searxng/settings.yml)" in capsys.readouterr().err
    (home / "config").mkdir()
    (home / "config" / "web_search.yaml").write_text(f"url: {server.url}/sub/\n")
    assert run(["searxng", "status"]) == ExitCode.FAILED
    assert server.asked[-1] == "/sub/search?format=json"


@pytest.mark.parametrize(
    ("ports", "url"),
    [
        ('["127.0.0.1:7880:8080"]', "http://127.0.0.1:7880"),
        ('["7881:8080"]', "http://127.0.0.1:7881"),
        ("[]", None),
        ("5", None),
        ('["${PORT}:8080"]', None),
    ],
)
def test_where_an_edited_file_lets_it_listen(tmp_path: Path, ports: str, url: str | None) -> None:
    files = searxng.Files(tmp_path)
    files.compose.write_text(f"services: {{mine: {{ports: {ports}}}}}\n")
    assert files.url() == url
