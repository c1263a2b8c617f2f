"""Where does LoCAL2 keep its files?

Everything of a user lies under `$LOCAL2_HOME` (default `~/.local2`), in folders that only
the user may open. Sockets need short paths: see `runtime_dir`.
"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from bus.errors import ConfigError

_LONGEST_SOCKET_NAME = len("/supervisor.sock.1234567")
_SOCKET_PATH_LIMIT = 100
"""Bytes; Linux allows 107 and macOS 103 in the path of a unix socket."""


def home() -> Path:
    """The user's LoCAL2 folder, absolute; it need not exist yet."""
    return Path(os.environ.get("LOCAL2_HOME") or Path.home() / ".local2").expanduser().absolute()


def config_dir() -> Path:
    """What the user changed: `<name>.yaml` files merged over the defaults."""
    return home() / "config"


def participants_dir() -> Path:
    """What the user dropped in: program files, with the modules and `<name>.yaml` that belong to them."""
    return home() / "participants"


def data_dir() -> Path:
    """The stores: conversations, memory, documents."""
    return home() / "data"


def logs_dir() -> Path:
    """One log a participant, rotated."""
    return home() / "logs"


def defaults_dir() -> Path:
    """The folder with the default `config/` and `supervisord.conf`: the checkout, or inside the wheel."""
    here = Path(__file__).resolve().parent
    packaged = here / "_defaults"
    return packaged if packaged.is_dir() else here.parent


def cache_dir() -> Path:
    """Downloads that every checkout and home of this user shares, such as model weights."""
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base) / "local2"
    mac = Path.home() / "Library" / "Caches"
    return (mac if mac.is_dir() else Path.home() / ".cache") / "local2"


def runtime_dir() -> Path:
    """The folder of the sockets: `home()/run`, or a private folder in /tmp where that path is unfit.

    Unix sockets refuse long paths, and supervisord splits its include line at spaces and expands `%`.
    """
    folder = home() / "run"
    text = str(folder)
    if len(os.fsencode(text)) + _LONGEST_SOCKET_NAME <= _SOCKET_PATH_LIMIT and not any(
        c.isspace() or c == "%" for c in text
    ):
        return folder
    digest = hashlib.sha256(os.fsencode(str(home()))).hexdigest()[:8]
    return Path("/tmp") / f"local2-{os.getuid()}-{digest}"  # noqa: S108  `private` refuses one that is not ours


def private(folder: Path) -> Path:
    """Make `folder` with mode 0700, or check that it is ours.

    Raises:
        ConfigError: It is a link, belongs to somebody else, or cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        info = folder.lstat()
        if stat.S_ISLNK(info.st_mode) or info.st_uid != os.getuid():
            raise ConfigError(str(folder), "", "must be a folder of this user, and no link")
        if info.st_mode & 0o077:
            folder.chmod(0o700)
    except OSError as error:
        raise ConfigError(str(folder), "", f"cannot be used: {error.strerror}; choose another LOCAL2_HOME") from error
    return folder
