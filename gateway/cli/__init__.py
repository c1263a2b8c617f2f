"""The `local2` command: one module a concern, and nothing imported before it is needed."""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run `local2`; the exit code. Whatever happens, no traceback reaches the user."""
    from gateway.cli.run import run

    return run(argv)
