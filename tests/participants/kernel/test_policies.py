"""Who is asked about a call, and what does a denial rule out?"""

from __future__ import annotations

from typing import Any

import pytest

from bus.messages.ledger import PastTurn, Step, ToolRecord
from bus.messages.tool import Confirm, Policies, ToolSchema
from participants.kernel.policies import approval_id, canonical, reason_to_ask, refusal, tainted

ALWAYS = [Confirm()]
DELETES = [Confirm(when={"action": ["delete", "move"]})]
BOTH = [Confirm(when={"action": ["delete"], "recursive": [True]})]
TAINTED = [Confirm(after_untrusted=True)]
EITHER = [Confirm(when={"action": ["delete"]}), Confirm(after_untrusted=True)]
NO_ACTION = [Confirm(when={"action": [None, "delete"]})]


@pytest.mark.parametrize(
    ("confirm", "args", "outside", "asked"),
    [
        ([], {}, True, False),
        (ALWAYS, {}, False, True),
        (ALWAYS, {"x": 1}, True, True),
        (DELETES, {"action": "delete"}, False, True),
        (DELETES, {"action": "move"}, False, True),
        (DELETES, {"action": " Delete\n"}, False, True),
        (DELETES, {"action": "DELETE"}, False, True),
        (DELETES, {"action": ["list", "delete"]}, False, True),
        (DELETES, {"action": "list"}, False, False),
        (DELETES, {"action": "undelete"}, False, False),
        (DELETES, {"action": {"delete": 1}}, False, False),
        (DELETES, {}, False, False),
        (NO_ACTION, {}, False, True),
        (NO_ACTION, {"action": None}, False, True),
        (NO_ACTION, {"action": "list"}, False, False),
        (BOTH, {"action": "delete", "recursive": True}, False, True),
        (BOTH, {"action": "delete", "recursive": 1}, False, False),
        (BOTH, {"action": "delete", "recursive": False}, False, False),
        (BOTH, {"recursive": True}, False, False),
        (TAINTED, {}, False, False),
        (TAINTED, {}, True, True),
        (EITHER, {"action": "delete"}, False, True),
        (EITHER, {"action": "list"}, True, True),
        (EITHER, {"action": "list"}, False, False),
        ([Confirm(when={"action": ["delete"]}, after_untrusted=True)], {"action": "delete"}, False, False),
        ([Confirm(when={"action": ["delete"]}, after_untrusted=True)], {"action": "delete"}, True, True),
        ([Confirm(when={"action": ["delete"]}, after_untrusted=True)], {"action": "list"}, True, False),
        ([Confirm(when={"action": []})], {"action": "delete"}, True, False),
        ([Confirm(when={"n": [1.5, {"a": [1]}]})], {"n": {"a": [1]}}, False, True),
    ],
)
def test_who_is_asked(confirm: list[Confirm], args: dict[str, Any], outside: bool, asked: bool) -> None:
    assert bool(reason_to_ask(Policies(confirm=confirm), args, tainted=outside)) is asked


@pytest.mark.parametrize(
    ("confirm", "risk", "words"),
    [
        (ALWAYS, "read", "It asks before each use."),
        (ALWAYS, "destroy", "It can change or delete what cannot be brought back."),
        (DELETES, "write", 'Here action is "delete". It adds or changes something.'),
        (TAINTED, "write", "Content from outside was read before, and may have led to this. It adds or changes"),
    ],
)
def test_the_reason_says_what_it_is_about(confirm: list[Confirm], risk: Any, words: str) -> None:
    policies = Policies(confirm=confirm, risk=risk)
    assert reason_to_ask(policies, {"action": "delete"}, tainted=True).startswith(words)


def record(*, untrusted: bool = False) -> ToolRecord:
    return ToolRecord(call_id="c", tool="t", outcome="ok", untrusted=untrusted)


def past(*, untrusted: bool) -> PastTurn:
    step = Step(n=1, kind="result", calls=[record(), record(untrusted=untrusted)])
    return PastTurn(query="q", answer="a", status="answered", steps=[step])


@pytest.mark.parametrize(
    ("calls", "history", "expected"),
    [
        ([], [], False),
        ([record()], [past(untrusted=False)], False),
        ([record(), record(untrusted=True)], [], True),
        ([], [past(untrusted=True), past(untrusted=False)], True),
        ([], [PastTurn(query="q", answer="a", status="answered", untrusted=True)], True),
    ],
)
def test_content_from_outside_taints_what_follows(
    calls: list[ToolRecord], history: list[PastTurn], expected: bool
) -> None:
    assert tainted(calls, history) is expected


def schema(**policies: Any) -> ToolSchema:
    return ToolSchema(tool="other", name="other", description="", parameters={}, policies=Policies(**policies))


@pytest.mark.parametrize(
    ("called", "denied", "asks", "refused"),
    [
        ({"risk": "destroy"}, [], True, False),
        ({}, [("rm", Policies(risk="destroy"))], False, False),
        ({"risk": "write"}, [("rm", Policies(risk="destroy"))], False, True),
        ({"risk": "destroy"}, [("rm", Policies())], False, True),
        ({"risk": "destroy"}, [("gone", None)], False, True),
        ({}, [("rm", Policies())], True, True),
        ({"web": True}, [("fetch", Policies(web=True))], False, True),
        ({"web": True}, [("rm", Policies()), ("fetch", Policies(web=True))], False, True),
        ({"web": True}, [("rm", Policies(risk="destroy"))], False, False),
        ({}, [("fetch", Policies(web=True))], False, False),
    ],
)
def test_what_was_denied_is_not_done_in_another_way(
    called: dict[str, Any], denied: list[tuple[str, Policies | None]], asks: bool, refused: bool
) -> None:
    words = refusal(schema(**called), denied, asks=asks)
    assert bool(words) is refused
    assert not refused or denied[-1][0] in words


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1.0}, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": "1"}, {"a": 1}, False),
        ({"a": None}, {}, False),
        ({"u": "http://a"}, {"u": "http://a/"}, False),
        ({"u": "é"}, {"u": "e\u0301"}, False),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        ({"a": "\ud800"}, {"a": "\ud801"}, False),
    ],
)
def test_an_approval_is_for_exactly_these_arguments(one: dict[str, Any], other: dict[str, Any], same: bool) -> None:
    assert (canonical("t", one) == canonical("t", other)) is same
    assert (approval_id("c", "t", one) == approval_id("c", "t", other)) is same


def test_an_approval_is_for_one_call_of_one_tool() -> None:
    assert len({approval_id(call, tool, {}) for call in ("c1", "c2") for tool in ("t1", "t2")}) == 4
