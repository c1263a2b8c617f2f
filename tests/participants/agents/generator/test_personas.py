"""Does the persona reach the model's prompt, and what if it is not there?"""

from __future__ import annotations

from typing import Any

import pytest

from bus.envelope import Envelope
from bus.errors import RequestFailed
from bus.messages.control import AgentTransition
from bus.messages.persona import GetPersonas, PersonaInfo, Personas
from participants.agents.generator.prompts import system
from tests.participants.agents.generator.conftest import World
from tests.support.stage import Heard

SEA_DOG = PersonaInfo(name="Sea Dog", description="At sea", seed="Talk like a pirate.")
KNOWN = Personas(personas=[SEA_DOG])


async def head(world: World, query_id: str) -> str:
    """The system prompt of one more turn."""
    world.ask("hi", query_id)
    await world.end()
    return str((await world.model.next_request("/api/chat")).body["messages"][0]["content"])


def serve(world: World, answer: Personas | RequestFailed) -> list[Any]:
    asked: list[Any] = []

    async def given(message: GetPersonas, _request: Envelope) -> Personas:
        asked.append(message)
        if isinstance(answer, RequestFailed):
            raise answer
        return answer

    world.bus.serve(GetPersonas, given)
    return asked


def test_the_head_names_the_persona_and_holds_its_text() -> None:
    assert system("Be kind.", None) == "Be kind."
    text = system("Be kind.", SEA_DOG)
    assert text.startswith("Be kind.\n\n")
    assert '"Sea Dog"' in text
    assert text.endswith("\nTalk like a pirate.")


async def test_the_persona_of_the_turn_stands_in_its_head_and_is_asked_for_once(world: World) -> None:
    asked = serve(world, KNOWN)
    plain = await head(world, "q1")
    world.ledger.persona = "sea dog"
    heads = {await head(world, "q2"), await head(world, "q3")}
    assert heads == {system(plain, SEA_DOG)}
    assert len(asked) == 1


async def test_a_persona_is_kept_while_its_program_is_away_and_renewed_when_it_speaks(world: World) -> None:
    world.bus.publish(KNOWN)
    world.ledger.persona = "Sea Dog"
    assert (await head(world, "q1")).endswith("Talk like a pirate.")
    changed = PersonaInfo(name="sea-dog", description="At sea", seed="Talk like a captain.")
    world.bus.publish(Personas(personas=[changed]))
    assert (await head(world, "q2")).endswith("Talk like a captain.")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (KNOWN, "There is no persona 'butler' now: this answer has none. The personas are: Sea Dog."),
        (Personas(personas=[]), "There is no persona 'butler' now: this answer has none. The personas are: none."),
        (RequestFailed("x", "y"), "The persona 'butler' is not there yet (see local2 status): this answer has none."),
    ],
)
async def test_a_persona_that_is_not_there_is_said_and_the_turn_is_answered(
    world: World, answer: Personas | RequestFailed, words: str
) -> None:
    serve(world, answer)
    moves = Heard()
    world.bus.on(AgentTransition, moves)
    plain = await head(world, "q1")
    world.ledger.persona = "butler"
    assert await head(world, "q2") == plain
    assert [move.note for move in moves.messages if move.note] == [words]
