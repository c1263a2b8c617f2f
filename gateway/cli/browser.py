"""How is the page opened, where there is a screen to open it on?"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping

_WSL = (["wslview"], ["explorer.exe"])
_DESKTOP = (["xdg-open"],)
_MAC = (["open"],)


def commands(env: Mapping[str, str], platform: str) -> tuple[list[str], ...]:
    """The programs that may open a page here; none on a machine without a screen."""
    if platform == "darwin":
        return () if env.get("SSH_CONNECTION") else _MAC
    if env.get("WSL_DISTRO_NAME"):
        return _WSL
    return _DESKTOP if env.get("DISPLAY") or env.get("WAYLAND_DISPLAY") else ()


def open_page(address: str) -> None:
    """Open `address`; quietly nothing where that is not possible, since it is printed too."""
    for command in commands(os.environ, sys.platform):
        program = shutil.which(command[0])
        if program is not None:
            _spawn([program, *command[1:], address])
            return


def _spawn(command: list[str]) -> None:
    quiet = subprocess.DEVNULL
    try:
        # In a session of its own: a Ctrl-C here must not close the user's browser.
        opener = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)  # noqa: S603
        opener.wait(0.5)
    except (OSError, subprocess.TimeoutExpired):
        return
