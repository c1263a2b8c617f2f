"""Real processes for these tests."""

from tests.support.stage import stage

__all__ = ["stage"]
