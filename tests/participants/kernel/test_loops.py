"""When does a turn go round in circles?"""

from __future__ import annotations

import pytest

from bus.messages.ledger import Step, ToolRecord
from participants.kernel.loops import stuck


def steps(*rounds: str) -> list[Step]:
    """Each round's calls, such as `a b!`: the last one could not run."""
    out: list[Step] = []
    for text in rounds:
        calls = [
            ToolRecord(call_id=f"{len(out)}-{n}", tool=word.rstrip("!"), outcome="unknown" if "!" in word else "ok")
            for n, word in enumerate(text.split())
        ]
        out += [Step(n=len(out), kind="round", calls=calls), Step(n=len(out) + 1, kind="result", calls=calls)]
    return out


@pytest.mark.parametrize(
    ("rounds", "words"),
    [
        ((), ""),
        (("a", "a"), ""),
        (("a", "b", "c", "d"), ""),
        (("a", "a", "a"), "the same call"),
        (("a", "b", "a", "b", "a"), "the same call"),
        (("a b", "a b", "b a"), "the same call"),
        (("a a a",), "the same call"),
        (("x!", "y!", "z!"), "no call that can run"),
        (("x!", "y!", "a"), ""),
        (("x!", "a y!", "z!", "v!"), ""),
        (("x!", "a y!", "z!", "v!", "w! u!"), "no call that can run"),
        (("x!", "x!", "x!"), "the same call"),
    ],
)
def test_circles(rounds: tuple[str, ...], words: str) -> None:
    found = stuck(steps(*rounds), 3)
    assert found.startswith(words)
    assert bool(found) == bool(words)


def test_same_tool_with_other_arguments_is_another_call() -> None:
    calls = [ToolRecord(call_id=str(n), tool="a", args={"n": n}, outcome="ok") for n in range(5)]
    assert stuck([Step(n=n, kind="result", calls=[call]) for n, call in enumerate(calls)], 3) == ""


def test_order_of_arguments_does_not_matter() -> None:
    orders = [{"a": 1, "b": 2}, {"b": 2, "a": 1}]
    calls = [ToolRecord(call_id=str(n), tool="x", args=args, outcome="ok") for n, args in enumerate(orders)]
    assert stuck([Step(n=0, kind="result", calls=calls)], 2) != ""
