"""Real processes and a bus in memory for these tests."""

from __future__ import annotations

import pytest

from bus.config import BusConfig
from bus.testing import MemoryBus
from tests.support.stage import stage

__all__ = ["memory", "stage"]


@pytest.fixture
def memory() -> MemoryBus:
    """A bus in memory on which unanswered requests are sent again soon."""
    return MemoryBus(BusConfig(id="bus", resend_s=0.02, buffer=5))
