"""Which messages does the model get when not everything fits?"""

from __future__ import annotations

import pytest

from bus.messages.ledger import PastTurn, Step, ToolRecord
from participants.agents.generator.prompts import Prompt, PromptTooLong, estimate, fit

CALL = ToolRecord(call_id="c", tool="clock", args={"zone": "UTC"}, outcome="ok", result="12:00 " * 100)
STEPS = [Step(n=0, kind="round", calls=[CALL]), Step(n=1, kind="result", calls=[CALL])]


def turns(count: int) -> list[PastTurn]:
    return [PastTurn(query=f"question {i} " * 10, answer=f"answer {i} " * 10, status="answered") for i in range(count)]


def fitted(history: list[PastTurn], limit: int, query: str = "now?") -> Prompt:
    return fit(system="Be kind.", history=history, query=query, steps=[], tools=[], limit=limit)


def test_all_is_kept_where_it_fits() -> None:
    prompt = fitted(turns(5), 10_000)
    assert (len(prompt.messages), prompt.left_out) == (12, 0)


@pytest.mark.parametrize("limit", [60, 100, 200, 300, 500])
def test_prompt_never_exceeds_its_limit_and_keeps_what_matters(limit: int) -> None:
    prompt = fitted(turns(50), limit)
    assert estimate(prompt.messages) <= limit
    assert prompt.messages[0] == {"role": "system", "content": "Be kind."}
    assert prompt.messages[-1] == {"role": "user", "content": "now?"}
    assert prompt.left_out == 50 - (len(prompt.messages) - 2) // 2


def test_newest_turns_are_kept_without_a_hole() -> None:
    prompt = fitted(turns(50), 300)
    asked = [m["content"].split()[1] for m in prompt.messages if m["content"].startswith("question")]
    assert asked == [str(i) for i in range(50 - len(asked), 50)]


def test_old_turn_loses_its_tool_steps_before_it_is_left_out() -> None:
    old = PastTurn(query="time?", answer="Noon.", status="answered", steps=STEPS)
    assert len(fitted([old], 1000).messages) == 6
    assert len(fitted([old], 120).messages) == 4


def test_question_that_does_not_fit_is_refused_with_figures() -> None:
    with pytest.raises(PromptTooLong) as caught:
        fitted([], 50, query="word " * 1000)
    assert (caught.value.limit, caught.value.tokens > 1000) == (50, True)


def test_tools_take_room_too() -> None:
    tools = [{"type": "function", "function": {"name": "x", "description": "d" * 2000}}]
    with pytest.raises(PromptTooLong):
        fit(system="s", history=[], query="q", steps=[], tools=tools, limit=300)


def test_failed_call_says_so_to_the_model() -> None:
    lost = ToolRecord(call_id="c", tool="clock", outcome="timeout", result="too slow")
    steps = [Step(n=0, kind="round", calls=[lost]), Step(n=1, kind="result", calls=[lost])]
    prompt = fit(system="s", history=[], query="q", steps=steps, tools=[], limit=1000)
    assert prompt.messages[-1]["content"] == "[timeout] too slow"


def test_lone_surrogates_do_no_harm() -> None:
    assert fitted([], 100, query="\ud800").tokens > 0
