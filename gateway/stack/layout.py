"""Which files and folders does the stack of one home use?"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path

from bus import paths
from gateway.stack.errors import ExitCode, StackError


@dataclass(frozen=True)
class Layout:
    """The places of one stack.

    Args:
        home: `$LOCAL2_HOME`.
        run: The folder of the sockets; its path is short and holds no space.
        logs: One log a program.
    """

    home: Path
    run: Path
    logs: Path

    @property
    def conf(self) -> Path:
        """What `local2` renders supervisord.conf to."""
        return self.home / "run" / "supervisord.conf"

    @property
    def socket(self) -> Path:
        return self.run / "supervisor.sock"

    @property
    def pidfile(self) -> Path:
        return self.run / "supervisord.pid"

    @property
    def output(self) -> Path:
        """What supervisord itself says before its log is open."""
        return self.run / "supervisord.out"

    @property
    def lock(self) -> Path:
        """Held by the one `local2` that starts or stops this stack."""
        return self.run / "local2.lock"

    @property
    def participants(self) -> Path:
        """Where a user drops program files of further participants."""
        return self.home / paths.participants_dir().name

    @property
    def participants_link(self) -> Path:
        """The same folder by a path without spaces, for supervisord's include line."""
        return self.run / "participants"

    @property
    def started_with(self) -> Path:
        return self.run / "started-with.json"


def current() -> Layout:
    """The layout of this environment's home; nothing is made yet."""
    return Layout(home=paths.home(), run=paths.runtime_dir(), logs=paths.logs_dir())


def prepare(layout: Layout) -> None:
    """Make the folders of `layout`, private to the user.

    Raises:
        StackError: The home cannot be written.
        ConfigError: A folder belongs to somebody else.
    """
    try:
        layout.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in (layout.home / "run", layout.run, layout.logs, layout.participants):
            paths.private(folder)
        _link(layout.participants_link, layout.participants)
    except OSError as error:
        raise unusable(layout.home, error) from error
    if not os.access(layout.home, os.W_OK | os.X_OK):
        raise unusable(layout.home, PermissionError(errno.EACCES, "it is not writable"))


def unusable(folder: Path, error: OSError) -> StackError:
    """What to tell a user whose home cannot be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StackError(
            f"There is no space left for {folder}.", "Free some space, then start again.", ExitCode.NO_SPACE
        )
    return StackError(
        f"{folder} cannot be used: {error.strerror}.",
        "Set LOCAL2_HOME to a folder that you may write.",
        ExitCode.NO_SPACE,
    )


def _link(link: Path, target: Path) -> None:
    if link == target or (link.is_symlink() and link.readlink() == target):
        return
    link.unlink(missing_ok=True)
    link.symlink_to(target, target_is_directory=True)
