"""Which models does a start bring, and does a start live without the one for vectors?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from gateway.cli import start
from gateway.stack import backend, weights
from gateway.stack.errors import StackError
from gateway.stack.settings import Wanted


class Answers(BaseHTTPRequestHandler):
    """An Ollama whose list of models is `tags`."""

    tags: Any = None

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"version": "1.0"} if self.path == "/api/version" else self.tags).encode())

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        return


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("OLLAMA_HOST", f"http://127.0.0.1:{server.server_address[1]}")
        yield
        server.shutdown()


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str | None]:
    """What was fetched, on a machine that has nothing yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    choices: list[str | None] = []

    def install(choice: str | None, _progress: Callable[[int, int, str], None]) -> Path:
        choices.append(choice)
        return tmp_path

    monkeypatch.setattr(weights, "install", install)
    return choices


@pytest.mark.parametrize(
    ("tags", "lacks"),
    [
        ({"models": [{"name": "gemma3:4b"}, {"name": "nomic-embed-text:latest"}]}, False),
        ({"models": [{"name": "gemma3:4b"}]}, True),
        ({"models": ["nomic-embed-text", None, {"name": 5}]}, True),
        ({"models": None}, True),
        ([], True),
    ],
)
def test_an_ollama_without_a_model_for_vectors_gets_one_beside_it(
    server: None, monkeypatch: pytest.MonkeyPatch, fetched: list[str | None], tags: object, lacks: bool
) -> None:
    monkeypatch.setattr(Answers, "tags", tags)
    start._with_model(Wanted())
    assert fetched == (["embedding"] if lacks else [])


def test_who_wants_only_ollama_gets_no_model_from_here(
    server: None, monkeypatch: pytest.MonkeyPatch, fetched: list[str | None]
) -> None:
    monkeypatch.setenv("LOCAL2_MODELS__BACKEND", "ollama")
    monkeypatch.setattr(Answers, "tags", {"models": []})
    start._with_model(Wanted())
    assert fetched == []


def test_without_ollama_both_come(monkeypatch: pytest.MonkeyPatch, fetched: list[str | None]) -> None:
    monkeypatch.setenv("LOCAL2_MODELS__BACKEND", "embedded")
    monkeypatch.setenv("LOCAL2_EMBEDDED_MODEL", "tiny")
    assert backend.find().embedding
    start._with_model(Wanted())
    assert fetched == ["tiny", "embedding"]


def test_a_start_goes_on_without_the_one_for_vectors(
    server: None, monkeypatch: pytest.MonkeyPatch, fetched: list[str | None], capsys: pytest.CaptureFixture[str]
) -> None:
    def install(choice: str | None, _progress: object) -> Path:
        raise StackError(f"no network for {choice}")

    monkeypatch.setattr(weights, "install", install)
    monkeypatch.setattr(Answers, "tags", {"models": []})
    start._with_model(Wanted())
    said = "".join(capsys.readouterr())
    assert "by their words only: no network for embedding" in said
    assert "models install embedding" in said
