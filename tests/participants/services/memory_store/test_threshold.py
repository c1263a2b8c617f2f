"""From which likeness on is something recalled?"""

from __future__ import annotations

import pytest

from participants.services.memory_store.recall import threshold_of
from tests.participants.services.memory_store.desk import RULES


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        ([], RULES.threshold),
        (["nomic-embed-text:latest"], RULES.threshold),
        (["all-minilm-l6-v2"], RULES.minilm_threshold),
        (["all-minilm:latest"], RULES.minilm_threshold),
        (["nomic-embed-text:latest", "all-minilm-l6-v2"], RULES.minilm_threshold),
    ],
    ids=["words alone", "another", "ours", "ours on Ollama", "while memories move over"],
)
def test_the_threshold_is_the_models(models, expected):
    assert threshold_of(RULES, models) == expected
