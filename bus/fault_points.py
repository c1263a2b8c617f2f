"""At which steps of a turn may a test have this process die?

`reached` stands between two steps that belong together. It does nothing but in a process that was started with
`LOCAL2_FAULT_POINTS`, the folder in which a test puts a file of the point's name. The file is taken away first: the
next process passes that point.
"""

from __future__ import annotations

import os
import signal
from enum import StrEnum
from pathlib import Path

VARIABLE = "LOCAL2_FAULT_POINTS"
_FOLDER = os.environ.get(VARIABLE, "")


class FaultPoint(StrEnum):
    """The steps, in a turn's order; the first word is the process that dies."""

    QUESTION_HEARD = "ledger.question_heard"
    QUESTION_SAVED = "ledger.question_saved"
    QUESTION_ANNOUNCED = "ledger.question_announced"
    ACCEPTANCE_HEARD = "gateway.acceptance_heard"
    TURN_CLAIMED = "ledger.turn_claimed"
    TURN_TAKEN = "generator.turn_taken"
    CALLS_SAVED = "generator.calls_saved"
    STEP_HEARD = "ledger.step_heard"
    STEP_SAVED = "ledger.step_saved"
    CALL_HEARD = "tool.call_heard"
    CALL_DONE = "tool.call_done"
    RESULT_HEARD = "generator.result_heard"
    RESULTS_SAVED = "generator.results_saved"
    TEXT_BEGUN = "generator.text_begun"
    TEXT_SAVED = "ledger.text_saved"
    ANSWER_WHOLE = "generator.answer_whole"
    END_HEARD = "ledger.end_heard"
    END_SAVED = "ledger.end_saved"
    END_COMMITTED = "generator.end_committed"
    ANSWER_HEARD = "gateway.answer_heard"


def reached(point: FaultPoint) -> None:
    """Die here by SIGKILL, if a test wants it."""
    if _FOLDER and _taken(Path(_FOLDER) / point):
        os.kill(os.getpid(), signal.SIGKILL)


def _taken(order: Path) -> bool:
    try:
        order.unlink()
    except OSError:
        return False
    return True
