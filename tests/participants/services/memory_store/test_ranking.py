"""Which of two memories about the same thing stands first?"""

from __future__ import annotations

import math
from datetime import UTC, datetime

import numpy as np
import pytest

from bus.messages.memory import Memory
from participants.services.memory_store.entities import tells_a_change
from participants.services.memory_store.ranking import Candidate, rank

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def candidate(text, day, similarity, degrees, query=""):
    """A memory of a day, so near to the question, whose vector points in that direction."""
    created = f"2029-06-{day:02}T00:00:00+00:00"
    memory = Memory(memory_id=text, user_id="u", kind="engram", text=text, query=query, created_at=created)
    turned = math.radians(degrees)
    return Candidate(memory, similarity, np.asarray([math.cos(turned), math.sin(turned)]))


def order(*candidates):
    """The texts, first to last."""
    return [memory.text for memory in rank(candidates, "", NOW, threshold=0.1, limit=9)]


OLD = candidate("I live in Graz.", 1, 0.5, 0)


@pytest.mark.parametrize(
    ("later", "goes_first"),
    [
        (candidate("We have moved to Turku.", 2, 0.35, 60), True),
        (candidate("Noted.", 2, 0.35, 60, query="We have moved to Turku."), True),
        (candidate("We moved the sofa.", 2, 0.25, 60), False),
        (candidate("We have moved to Turku.", 2, 0.35, 80), False),
        (candidate("My aunt lives in Turku.", 2, 0.35, 60), False),
        (candidate("You have moved.", 2, 0.35, 60, query="Where is Turku?"), False),
    ],
    ids=[
        "a change",
        "told in the question",
        "fits much less",
        "about something else",
        "no change",
        "the model's words",
    ],
)
def test_a_change_goes_before_what_it_changes(later, goes_first):
    assert (order(OLD, later)[0] == later.memory.text) is goes_first
    assert len(order(OLD, later)) == 2


def test_a_change_that_was_itself_changed_goes_after_its_successor():
    first = candidate("We have moved to Turku.", 2, 0.35, 60)
    second = candidate("We have moved to Leeds.", 3, 0.35, 62)
    assert order(OLD, first, second)[0] == "We have moved to Leeds."


def test_an_earlier_change_stays_where_it_is():
    assert order(candidate("I live in Graz.", 9, 0.5, 0), candidate("We moved to Turku.", 2, 0.35, 60))[0] == (
        "I live in Graz."
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I no longer eat meat.", True),
        ("Ich bin umgezogen.", True),
        ("J'ai vendu la voiture.", True),
        ("I know a snowman.", False),
        ("Renew it in June.", False),
        ("", False),
    ],
)
def test_words_of_change(text, expected):
    assert tells_a_change(text) is expected
