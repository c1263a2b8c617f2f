"""Which function does a command line call, and how are its failures put into words?"""

from __future__ import annotations

import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

from bus.command import local2
from bus.errors import Local2Error
from gateway.cli import arguments, console
from gateway.stack.errors import ExitCode, StackError, Unreachable
from gateway.stack.preflight import check_python


def run(argv: Sequence[str] | None = None) -> int:
    """Parse, call, translate; the exit code."""
    options = arguments.parser().parse_args(argv)
    os.umask(0o077)  # what we and our processes write is for this user alone
    try:
        check_python()
        return _command(options)(options)
    except Unreachable:
        hint = f"Start it: {local2()}, or in the background {local2('up')}"
        console.complain("LoCAL2 is not running on this home.", hint)
        return ExitCode.NOT_RUNNING
    except StackError as error:
        console.complain(error.message, error.hint)
        return error.code
    except Local2Error as error:
        console.complain(str(error))
        return ExitCode.FAILED
    except KeyboardInterrupt:
        console.complain("interrupted.")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # `local2 logs | head` is no error
        return ExitCode.OK
    except Exception as error:  # noqa: BLE001 - the last line of defence: words, and the details in a file
        return _unexpected(error)


def _command(options: Namespace) -> Callable[[Namespace], int]:
    match options.command:
        case None | "up":
            from gateway.cli import start

            return start.background if options.command else start.foreground
        case "version":
            return _version
        case "models":
            from gateway.cli import models

            return models.models
        case "logs":
            from gateway.cli import logs

            return logs.logs
        case "new":
            from gateway.cli import new

            return new.new
        case "setup":
            from gateway.cli import setup

            return setup.setup
        case "searxng":
            from gateway.cli import searxng

            return searxng.searxng
        case "restart" | "reload":
            from gateway.cli import restart

            return restart.reload if options.command == "reload" else restart.restart
        case name:
            from gateway.cli import control

            return {"down": control.down, "status": control.status}[name]


def _version(_: Namespace) -> int:
    from gateway.version import version

    console.say(f"local2 {version()}")
    return ExitCode.OK


def _unexpected(error: Exception) -> int:
    where = _keep("".join(traceback.format_exception(error)))
    console.complain(f"something unexpected went wrong: {error}", f"The details are in {where}" if where else "")
    return ExitCode.FAILED


def _keep(text: str) -> Path | None:
    from bus import paths

    try:
        paths.logs_dir().mkdir(parents=True, exist_ok=True)
        file = paths.logs_dir() / "local2-error.log"
        file.write_text(text, encoding="utf-8")
    except OSError:
        return None
    return file
