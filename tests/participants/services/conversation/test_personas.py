"""Who answers a session's questions, and from when on."""

from __future__ import annotations

import pytest

from bus.messages.control import Done
from bus.messages.ledger import GetSession, Session, SessionChanged, SetPersona
from tests.participants.services.conversation.desk import Desk, turn


async def persona_of(desk: Desk, number: int) -> str:
    """Ask, and see as whom the generator is to answer."""
    await desk.submit(turn(number))
    persona = (await desk.claim(turn(number))).persona
    await desk.finish(turn(number))
    return persona


async def test_a_persona_holds_from_the_next_question_on_also_after_a_restart(desk: Desk) -> None:
    await desk.submit(turn(1))
    before = (await desk.claim(turn(1))).persona
    await desk.ask(SetPersona(persona="creative"), Done, turn(1))
    await desk.finish(turn(1))
    await desk.restart()
    assert (before, await persona_of(desk, 2)) == ("", "creative")
    assert (await desk.ask(GetSession(), Session, turn(0))).session.persona == "creative"


@pytest.mark.parametrize("name", ["", "default", " None "])
async def test_back_to_none(desk: Desk, name: str) -> None:
    await desk.submit(turn(1), persona="creative")
    await desk.claim(turn(1))
    await desk.ask(SetPersona(persona=name), Done, turn(1))
    await desk.finish(turn(1))
    assert await persona_of(desk, 2) == ""


@pytest.mark.parametrize(("said", "kept"), [("default", ""), ("NONE", ""), ("", "creative"), ("  ", "creative")])
async def test_a_question_can_leave_the_persona_or_keep_it(desk: Desk, said: str, kept: str) -> None:
    await desk.submit(turn(1), persona="creative")
    await desk.claim(turn(1))
    await desk.finish(turn(1))
    await desk.submit(turn(2), persona=said)
    assert (await desk.claim(turn(2))).persona == kept


async def test_questions_that_wait_follow_unless_they_named_another_one(desk: Desk) -> None:
    await desk.submit(turn(1))
    await desk.claim(turn(1))
    await desk.submit(turn(2))
    await desk.ask(SetPersona(persona="creative"), Done, turn(1))
    await desk.submit(turn(3), persona="analytic")
    await desk.ask(SetPersona(persona="operational"), Done, turn(1))
    await desk.restart()
    await desk.finish(turn(1))
    answered_as: list[str] = []
    for number in (2, 3):
        answered_as.append((await desk.claim(turn(number))).persona)
        await desk.finish(turn(number))
    assert answered_as == ["creative", "operational"]


async def test_a_turn_that_is_claimed_again_keeps_the_persona_that_it_began_with(desk: Desk) -> None:
    await desk.submit(turn(1), persona="creative")
    await desk.claim(turn(1))
    await desk.ask(SetPersona(persona="analytic"), Done, turn(1))
    assert (await desk.claim(turn(1), holder="boot1")).persona == "creative"


async def test_a_change_is_told_once(desk: Desk) -> None:
    await desk.answered(turn(1))
    desk.forget()
    await desk.ask(SetPersona(persona="creative"), Done, turn(1))
    await desk.ask(SetPersona(persona="creative"), Done, turn(1))
    assert [m.change for m in desk.said(SessionChanged)] == ["updated"]


@pytest.mark.parametrize("name", ["x" * 201, "a\nb", "a\0b", "\u202eab"])
async def test_a_name_that_cannot_be_one_is_refused(desk: Desk, name: str) -> None:
    await desk.answered(turn(1))
    assert await desk.refused(SetPersona(persona=name), turn(1)) == "bad_request"


async def test_another_users_session_is_not_there(desk: Desk) -> None:
    await desk.answered(turn(1))
    assert await desk.refused(SetPersona(persona="creative"), turn(1, user="bob")) == "not_found"
    assert await desk.refused(SetPersona(persona="creative"), turn(1, session=7)) == "not_found"
    assert await persona_of(desk, 2) == ""
