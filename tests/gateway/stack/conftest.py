"""Real processes, not the stage of the gateway's tests."""

from tests.support.stage import stage

__all__ = ["stage"]
