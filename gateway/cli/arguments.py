"""What can be typed after `local2`?"""

from __future__ import annotations

import argparse

from bus.command import local2

_ABOUT = "LoCAL2: an AI assistant that runs on this machine, and nowhere else."
_MORE = """\
State is kept in $LOCAL2_HOME (default ~/.local2).
Exit codes: 0 fine, 1 failed, 2 bad arguments, 3 not running, 4 running with other settings,
5 port taken, 6 home full or not writable, 7 no model, 130 interrupted.
"""


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = argparse.ArgumentParser(
        prog=local2(), description=_ABOUT, epilog=_MORE, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    _settings(top)
    commands = top.add_subparsers(
        dest="command", metavar="COMMAND", title="commands (without one: start, stay, stop on Ctrl-C)"
    )
    _settings(commands.add_parser("up", help="start in the background"), inherit=True)
    commands.add_parser("down", help="stop everything")
    commands.add_parser("status", help="what runs, where, and which model answers")
    restart = commands.add_parser("restart", help="restart participants (also picks up new ones)")
    restart.add_argument("names", nargs="+", metavar="NAME", help="a participant, or all")
    commands.add_parser("reload", help="take in new, changed and removed files of participants/, and changed yaml")
    logs = commands.add_parser("logs", help="show the participants' logs")
    logs.add_argument("name", nargs="?", metavar="NAME", help="a participant, or supervisord; without it: all")
    logs.add_argument("-f", "--follow", action="store_true", help="go on with what is written from now on")
    logs.add_argument("-n", "--lines", type=int, metavar="N", help="how many lines of each (40, or 8 of all)")
    setup = commands.add_parser("setup", help="what may leave this machine: show it, or decide it")
    setup.add_argument("--web", choices=["on", "off"], help="whether tools may reach the web; off at first")
    searxng = commands.add_parser("searxng", help="a SearXNG of your own for web_search, in a container")
    searxng.add_argument("action", choices=["up", "down", "status"])
    searxng.add_argument("--port", type=int, metavar="N", help="with the first `up`: where it listens (default 7880)")
    new = commands.add_parser("new", help="begin a tool of your own: writes its files, which work as they are")
    new.add_argument("kind", choices=["tool"])
    new.add_argument("name", metavar="NAME", help="lower-case words joined by _, such as word_count")
    models = commands.add_parser("models", help="the embedded model's weights: list, or install one")
    models.add_argument("action", nargs="?", choices=["list", "install"], default="list")
    models.add_argument("choice", nargs="?", metavar="CHOICE", help="default, small, tiny, or a .gguf file")
    commands.add_parser("version", help="print the version")
    return top


def _settings(parser: argparse.ArgumentParser, *, inherit: bool = False) -> None:
    # Given before `up` they count too, so `up` must not set them back to its own defaults.
    unset = argparse.SUPPRESS if inherit else None
    parser.add_argument("--headless", action="store_true", default=unset or False, help="do not open the browser")
    parser.add_argument("--web-port", type=int, default=unset, metavar="N", help="the page's port (default 7800)")
    parser.add_argument("--model", default=unset, metavar="M", help="the model that answers, such as qwen3:8b or small")
