"""`local2 setup`: what may leave this machine, and how is that decided?"""

from __future__ import annotations

from argparse import Namespace

from bus.command import local2
from gateway import web_access
from gateway.cli import console
from gateway.stack import layout as places
from gateway.stack import processes, tell
from gateway.stack.errors import ExitCode
from gateway.web_access import WebAccess


def setup(options: Namespace) -> int:
    """Show what is on; with --web, decide it first."""
    access = web_access.read() if options.web is None else web_access.switch(options.web == "on")
    _show(access)
    if options.web is not None:
        _tell(access)
    return ExitCode.FAILED if access.problems else ExitCode.OK


def _show(access: WebAccess) -> None:
    if access.enabled:
        console.say(f"The web is on: these tools may reach it. To turn it off: {local2('setup --web off')}")
    else:
        console.say(f"The web is off: no tool reaches beyond this machine. To turn it on: {local2('setup --web on')}")
    for tool in access.tools:
        console.row(tool.tool, "on" if tool.enabled else "off", "good" if tool.enabled else "dim")
    if not access.tools:
        console.say("  (There is no tool that could.)")
    for problem in access.problems:
        console.complain(problem)


def _tell(access: WebAccess) -> None:
    """So that the next question knows, where a stack runs."""
    if processes.running_pid(places.current()) is None:
        return
    silent = tell.reload([tool.name for tool in access.tools], {tool.name: tool.enabled for tool in access.tools})
    if silent:
        names = ", ".join(sorted(silent))
        console.complain(f"{names}: not running, or silent; it holds once started: {local2('restart NAME')}")
    else:
        console.say("It holds from the next question on.")
