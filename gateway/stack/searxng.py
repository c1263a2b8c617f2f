"""What does a SearXNG of the user's own need: which files, which program, and who uses it?

The files are the user's from the moment that they are written: they are never changed again here.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bus import config, paths
from gateway import yaml_edit
from gateway.stack.errors import StackError

PORT = 7880
IMAGE = "docker.io/searxng/searxng:2026.9.1-18af21159"
SECTION = "web_search"
_PUBLISHED = re.compile(r"(?:(?P<host>\[[0-9a-f:]+\]|[0-9.]+):)?(?P<port>[0-9]{1,5}):[0-9]{1,5}(?:/tcp)?")

# The secret stands in the file that only the user's own command reads: the container's user has to read the other.
_COMPOSE = """\
# SearXNG for LoCAL2. Yours to change; then: local2 searxng up
name: local2-searxng-{digest}
services:
  searxng:
    image: {image}
    restart: unless-stopped
    ports: ["127.0.0.1:{port}:8080"]
    volumes: ["./settings.yml:/etc/searxng/settings.yml:ro,Z"]
    environment:
      SEARXNG_SECRET: {secret}
    security_opt: ["no-new-privileges:true"]
"""
_SETTINGS = """\
# SearXNG for LoCAL2. Yours to change (see https://docs.searxng.org/admin/settings); then: local2 searxng up
use_default_settings: true
search:
  formats: [html, json]     # LoCAL2 asks for json
server:
  limiter: false            # it would refuse programs; nobody but this machine can reach it
  # The secret key is SEARXNG_SECRET in compose.yaml.
"""


@dataclass(frozen=True)
class Files:
    """The two files in `$LOCAL2_HOME/searxng`."""

    folder: Path

    @property
    def compose(self) -> Path:
        return self.folder / "compose.yaml"

    @property
    def settings(self) -> Path:
        return self.folder / "settings.yml"

    def write(self, port: int) -> list[Path]:
        """Write those that are not there yet; which ones.

        Raises:
            StackError: They cannot be written.
        """
        digest = hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:8]  # two homes are two projects
        compose = _COMPOSE.format(digest=digest, image=IMAGE, port=port, secret=secrets.token_hex(32))
        paths.private(self.folder)
        texts = ((self.compose, compose, 0o600), (self.settings, _SETTINGS, 0o644))
        return [path for path, text, mode in texts if _write_new(path, text, mode)]

    def url(self) -> str | None:
        """Where compose.yaml lets it listen; None where that cannot be told.

        Raises:
            ConfigError: It is no yaml.
        """
        services = config.read_yaml(self.compose).get("services")
        service = next(iter(services.values()), None) if isinstance(services, dict) else None
        ports = service.get("ports") if isinstance(service, dict) else None
        found = _PUBLISHED.fullmatch(str(ports[0])) if isinstance(ports, list) and ports else None
        return f"http://{found['host'] or '127.0.0.1'}:{found['port']}" if found else None


def files() -> Files:
    """Those of this home."""
    return Files(paths.home() / "searxng")


def _write_new(path: Path, text: str, mode: int) -> bool:
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as out:
            os.fchmod(out.fileno(), mode)  # whatever the umask
            out.write(text)
    except FileExistsError:
        return False
    except OSError as error:
        raise StackError(f"{path} cannot be written: {error.strerror}.") from error
    return True


def engine() -> list[str]:
    """The command that runs compose files.

    Raises:
        StackError: There is none; the words say what is missing.
    """
    lacking: list[str] = []
    for name in ("docker", "podman"):
        program = shutil.which(name)
        if program is None:
            continue
        if _works([program, "compose", "version"]):
            return [program, "compose"]
        lacking.append(f"{name} is here, but `{name} compose` does not work")
    raise StackError(
        "; ".join(lacking) or "Neither docker nor podman is here",
        "Install Docker with its compose plugin, or Podman with podman-compose.",
    )


def _works(command: Sequence[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=20, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def compose(command: Sequence[str], place: Files, *words: str) -> None:
    """Run compose on our file; what it says goes to the user.

    Raises:
        StackError: It failed.
    """
    try:
        done = subprocess.run([*command, "-f", str(place.compose), *words], check=False)
    except OSError as error:
        raise StackError(f"{command[0]} cannot be run: {error.strerror}.") from error
    if done.returncode != 0:
        name = Path(command[0]).name
        raise StackError(
            f"`{name} compose {words[0]}` failed with exit code {done.returncode}; its words are above.",
            f"Does {name} itself work? `{name} info` tells.",
        )


def configured_url() -> str | None:
    """Where web_search looks for it.

    Raises:
        ConfigError: Its yaml cannot be read.
    """
    url = None
    for _source, values in config.layers(SECTION):
        url = values.get("url", url)
    return url if isinstance(url, str) and url else None


def point_there(url: str) -> str | None:
    """Let web_search use `url`, unless the user has named another one: that one.

    Raises:
        ConfigError: The user's yaml cannot be read or written.
    """
    target = paths.config_dir() / f"{SECTION}.yaml"
    own = config.read_yaml(target).get("url")
    if own is not None and own != url:
        return str(own)
    if own is None:
        yaml_edit.set_key(target, ("url",), url)
    return None
