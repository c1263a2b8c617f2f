"""Is anything lost while participants die at random?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.chaos import Plan, alone

pytestmark = pytest.mark.stack


async def test_nothing_is_lost_double_or_misplaced_in_a_minute_of_kills(tmp_path: Path) -> None:
    verdict = await alone(Plan(seconds=60, seed=7), tmp_path / "home")
    assert verdict.clean, verdict.table()
    assert verdict.accepted == verdict.answered > 100, verdict.table()
    assert verdict.remembered == verdict.graded == verdict.answered, verdict.table()
    assert verdict.kills["all"] == 2
