"""A checkout with the real `local2` and small programs in place of the participants."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import psutil
import pytest

from bus import paths
from tests.support.stack import free_port

ROOT = Path(__file__).resolve().parents[3]
LIMIT_S = 30.0
_SECTIONS = re.compile(r"(?=^\[program:)", re.MULTILINE)
_STANDINS = {"proxy": "standins.idle", "conversation": "standins.idle", "gateway": "standins.web"}


class FakeOllama(BaseHTTPRequestHandler):
    """Says that it is an Ollama with a model for vectors, so that no weights are needed."""

    def do_GET(self) -> None:
        body = b'{"version": "0.0.1", "models": [{"name": "nomic-embed-text:latest"}]}'
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        return


class Local2:
    """A home, a checkout, and its `local2`."""

    def __init__(self, folder: Path, ollama: str) -> None:
        self.home, self.checkout, self.port = folder / "my home 100%d", folder / "check out %s", free_port()
        self.environment = {
            key: value for key, value in os.environ.items() if not key.startswith(("LOCAL2_", "OLLAMA"))
        }
        self._foregrounds: list[Foreground] = []
        self.environment |= {"LOCAL2_HOME": str(self.home), "PYTHONPATH": str(self.checkout), "OLLAMA_HOST": ollama}

    def lay_out(self) -> None:
        """Copy what `local2` consists of, and put the stand-ins beside it."""
        for name in ("bus", "participants", "config", "gateway"):
            skip = shutil.ignore_patterns("web", "__pycache__", "agents", "services", "tools")
            shutil.copytree(ROOT / name, self.checkout / name, ignore=skip)
        shutil.copytree(Path(__file__).parent / "standins", self.checkout / "standins")
        self.programs(_STANDINS)

    def programs(self, modules: dict[str, str]) -> None:
        """Let supervisord.conf have these programs."""
        head, *sections = _SECTIONS.split((ROOT / "supervisord.conf").read_text())
        named = {section.split("]")[0].removeprefix("[program:"): section for section in sections}
        chosen = [re.sub(r"-m \S+", f"-m {module}", named[name]) for name, module in modules.items()]
        (self.checkout / "supervisord.conf").write_text(head + "".join(chosen))

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-P", "-m", "gateway.cli", *words]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """`local2 WORDS` until it ends."""
        return subprocess.run(
            self.command(*words), env=self.environment, capture_output=True, text=True, timeout=90, check=False, cwd="/"
        )

    def up(self) -> str:
        """Start in the background; what it said."""
        done = self.run("up", "--headless", "--web-port", str(self.port))
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def foreground(self) -> Foreground:
        self._foregrounds.append(Foreground(self))
        return self._foregrounds[-1]

    @property
    def runtime(self) -> Path:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LOCAL2_HOME", str(self.home))
            return paths.runtime_dir()

    def supervisord(self) -> psutil.Process:
        return psutil.Process(int((self.runtime / "supervisord.pid").read_text()))

    def processes(self) -> list[psutil.Process]:
        """Everything that runs from this checkout: supervisord and the stand-ins."""
        return [process for process in psutil.process_iter() if self._mine(process)]

    def _mine(self, process: psutil.Process) -> bool:
        try:
            return process.status() != psutil.STATUS_ZOMBIE and process.environ().get("PYTHONPATH") == str(
                self.checkout
            )
        except (psutil.Error, OSError):
            return False

    def clear(self) -> None:
        """Leave nothing behind, whatever the test did."""
        for foreground in self._foregrounds:
            foreground.clear()
        for process in self.processes():
            process.kill()
        psutil.wait_procs(self.processes(), timeout=5)
        if not self.runtime.is_relative_to(self.home):
            shutil.rmtree(self.runtime, ignore_errors=True)


class Foreground:
    """A `local2` in the foreground."""

    def __init__(self, local2: Local2) -> None:
        command = local2.command("--headless", "--web-port", str(local2.port))
        self.process = subprocess.Popen(
            command, env=local2.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/"
        )
        self.said = ""

    def until(self, words: str) -> None:
        """Read until it says `words`."""
        for line in self.process.stdout or ():
            self.said += line
            if words in line:
                return
        raise AssertionError(f"it never said {words!r}:\n{self.said}")

    def end(self, number: signal.Signals | None = None) -> int:
        """Send a signal and wait; the exit code."""
        if number is not None:
            self.process.send_signal(number)
        self.said += self.process.communicate(timeout=LIMIT_S)[0]
        return self.process.returncode

    def clear(self) -> None:
        """Leave no process and no open pipe behind, whatever the test did."""
        self.process.kill()
        self.process.communicate()


@pytest.fixture(scope="session")
def ollama() -> Iterator[str]:
    """The address of something that answers like Ollama."""
    with ThreadingHTTPServer(("127.0.0.1", 0), FakeOllama) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture
def local2(tmp_path: Path, ollama: str) -> Iterator[Local2]:
    """The command, on a fresh home whose path has what paths can have."""
    made = Local2(tmp_path, ollama)
    made.lay_out()
    yield made
    made.clear()
