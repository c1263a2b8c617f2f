"""What is summed up of a session, and what stands in the next prompt for it."""

from __future__ import annotations

from bus.envelope import TurnRef
from bus.messages.control import Done
from bus.messages.ledger import (
    DeleteTurn,
    GetSession,
    SaveSummary,
    Session,
    SummariseTurns,
    TurnsToSummarise,
)
from tests.participants.services.conversation.desk import Desk, turn


async def talk(desk: Desk, numbers: range) -> None:
    """A conversation."""
    for number in numbers:
        await desk.answered(turn(number), f"question {number}", f"answer {number}")


async def summed_up(desk: Desk, tail: int = 2, text: str = "They greeted.") -> TurnsToSummarise:
    """Sum up all but the newest turns."""
    got = await desk.ask(SummariseTurns(tail=tail), TurnsToSummarise, turn(0))
    before = got.before.upto if got.before else ""
    await desk.ask(SaveSummary(upto=got.upto, text=text, before=before), Done, turn(0))
    return got


async def test_a_summary_stands_in_the_prompt_for_the_older_turns(desk: Desk) -> None:
    await talk(desk, range(1, 6))
    got = await summed_up(desk)
    assert ([past.query for past in got.turns], got.upto) == (["question 1", "question 2", "question 3"], "q3")
    await desk.submit(turn(6))
    claim = await desk.claim(turn(6))
    assert claim.summary is not None
    assert (claim.summary.text, claim.summary.turns, claim.summary.upto) == ("They greeted.", 3, "q3")
    assert ([past.query for past in claim.history], claim.left_out) == (["question 4", "question 5"], 0)


async def test_the_transcript_stays_whole_and_says_where_it_is_summed_up(desk: Desk) -> None:
    await talk(desk, range(1, 5))
    await summed_up(desk)
    shown = await desk.ask(GetSession(), Session, turn(0))
    assert len(shown.turns) == 4
    assert shown.summary is not None
    assert (shown.summary.upto, shown.summary.turns) == ("q2", 2)


async def test_the_next_summary_builds_on_the_last_one(desk: Desk) -> None:
    await talk(desk, range(1, 4))
    await summed_up(desk, tail=1)
    await talk(desk, range(4, 6))
    again = await summed_up(desk, tail=1, text="They went on.")
    assert again.before is not None
    assert (again.before.text, [past.query for past in again.turns]) == ("They greeted.", ["question 3", "question 4"])
    await desk.submit(turn(6))
    claim = await desk.claim(turn(6))
    assert claim.summary is not None
    assert (claim.summary.text, claim.summary.turns, len(claim.history)) == ("They went on.", 4, 1)


async def test_what_came_from_outside_does_so_in_the_history_and_in_each_summary_of_it(desk: Desk) -> None:
    await desk.answered(turn(1), "Read that page.", "It says X.", untrusted=True)
    await talk(desk, range(2, 4))
    await desk.submit(turn(4))
    claim = await desk.claim(turn(4))
    assert [past.untrusted for past in claim.history] == [True, False, False]
    await desk.finish(turn(4))
    await summed_up(desk, tail=1)
    await talk(desk, range(5, 8))
    await summed_up(desk, tail=1)
    await desk.submit(turn(8))
    claim = await desk.claim(turn(8))
    assert claim.summary is not None
    assert (claim.summary.turns, claim.summary.untrusted) == (6, True)
    assert [past.untrusted for past in claim.history] == [False]


async def test_a_summary_of_nothing_from_outside_is_not_from_outside(desk: Desk) -> None:
    await talk(desk, range(1, 4))
    await desk.answered(turn(4), "Read that page.", "It says X.", untrusted=True)
    await summed_up(desk, tail=1)
    await desk.submit(turn(5))
    claim = await desk.claim(turn(5))
    assert claim.summary is not None
    assert (claim.summary.untrusted, [past.untrusted for past in claim.history]) == (False, [True])


async def test_with_nothing_older_there_is_nothing_to_sum_up(desk: Desk) -> None:
    await talk(desk, range(1, 3))
    got = await desk.ask(SummariseTurns(tail=2), TurnsToSummarise, turn(0))
    assert (got.turns, got.upto, got.before) == ([], "", None)


async def test_another_branch_has_its_own_past(desk: Desk) -> None:
    await talk(desk, range(1, 5))
    await summed_up(desk, tail=1)
    await desk.submit(turn(5), "again", after="q1")
    claim = await desk.claim(turn(5))
    assert (claim.summary, [past.query for past in claim.history]) == (None, ["question 1"])


async def test_nothing_is_summed_up_while_a_question_of_the_session_runs(desk: Desk) -> None:
    await talk(desk, range(1, 4))
    got = await desk.ask(SummariseTurns(tail=1), TurnsToSummarise, turn(0))
    await desk.submit(turn(4))
    assert await desk.refused(SummariseTurns(tail=1), turn(0)) == "running"
    assert await desk.refused(SaveSummary(upto=got.upto, text="Late."), turn(0)) == "running"


async def test_a_summary_of_what_has_changed_meanwhile_is_refused(desk: Desk) -> None:
    await talk(desk, range(1, 4))
    got = await desk.ask(SummariseTurns(tail=1), TurnsToSummarise, turn(0))
    await desk.ask(DeleteTurn(), Done, turn(2))
    assert await desk.refused(SaveSummary(upto=got.upto, text="Of a deleted turn."), turn(0)) == "conflict"
    await desk.ask(SaveSummary(upto="q1", text="One."), Done, turn(0))
    await talk(desk, range(4, 6))
    assert await desk.refused(SaveSummary(upto="q4", text="Built on nothing."), turn(0)) == "conflict"
    await desk.ask(SaveSummary(upto="q1", text="Said twice."), Done, turn(0))


async def test_deleting_a_turn_deletes_the_summaries_that_hold_it(desk: Desk) -> None:
    await talk(desk, range(1, 5))
    await summed_up(desk, tail=1)
    await desk.ask(DeleteTurn(), Done, turn(3))
    shown = await desk.ask(GetSession(), Session, turn(0))
    assert (shown.summary, [t.query_id for t in shown.turns]) == (None, ["q1", "q2"])


async def test_another_users_session_is_not_summed_up(desk: Desk) -> None:
    await talk(desk, range(1, 4))
    bob = TurnRef("s1", "bob")
    assert await desk.refused(SummariseTurns(tail=1), bob) == "not_found"
    assert await desk.refused(SaveSummary(upto="q1", text="Mine."), bob) == "not_found"
