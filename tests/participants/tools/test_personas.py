"""Personas: which there are, how one is chosen, and who keeps it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bus.config import convert, load
from bus.envelope import TurnRef
from bus.errors import ConfigError, RequestFailed
from bus.messages.control import ConfigReload, Done
from bus.messages.ledger import GetSession, Session, SessionInfo, SetPersona
from bus.messages.persona import GetPersonas, Personas
from participants.tools.personas import PersonasConfig, PersonaTool, all_of, listed
from tests.participants.tools.calling import ANN, BOB, Calling, calling
from tests.support.stage import Heard

PIRATE = "personas:\n  Sea Dog:\n    description: At sea\n    seed: Talk like a pirate.\n"
BUILT_IN = ["creative", "analytic", "operational"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOCAL2_HOME", str(tmp_path))
    (tmp_path / "config").mkdir()
    return tmp_path


def write(home: Path, text: str) -> None:
    (home / "config" / "personas.yaml").write_text(text, encoding="utf-8")


@pytest.fixture
async def scene(home: Path) -> AsyncIterator[Calling]:
    write(home, PIRATE)
    async with calling(PersonaTool) as scene:
        scene.service.serve(SetPersona, Done())
        yield scene


def names() -> list[str]:
    return [persona.name for persona in all_of(load("personas", PersonasConfig)).personas]


def test_what_local2_brings_has_a_text_of_its_own_each() -> None:
    personas = all_of(load("personas", PersonasConfig)).personas
    assert [persona.name for persona in personas] == BUILT_IN
    assert min(len(persona.seed) for persona in personas) > 200
    assert len({persona.seed for persona in personas}) == 3


@pytest.mark.parametrize(
    ("text", "known"),
    [
        (PIRATE, [*BUILT_IN, "Sea Dog"]),
        ("personas: {creative: null}", ["analytic", "operational"]),
        ("personas: {creative: null, analytic: null, operational: null}", []),
        ("personas: {analytic: {seed: Count.}}", BUILT_IN),
    ],
)
def test_the_users_own_are_laid_over_them(home: Path, text: str, known: list[str]) -> None:
    write(home, text)
    assert names() == known


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("personas: {pirate: {seed: Arr}}", "description"),
        ("personas: {pirate: {description: x, seed: ''}}", "seed"),
        ("personas: {pirate: {description: x, seed: y, voice: z}}", "voice"),
        ("personas: {pirate: Arr}", "personas"),
        ("personas: [pirate]", "personas"),
        ("personas: {'': {description: x, seed: y}}", "personas"),
        ('personas: {"a\\nb": {description: x, seed: y}}', "personas"),
        ("personas: {Default: {description: x, seed: y}}", "choose another name"),
        ("personas: {Creative: {description: x, seed: y}}", "one name in other letters"),
    ],
)
def test_a_bad_persona_is_refused_with_the_file_and_the_reason(home: Path, text: str, words: str) -> None:
    write(home, text)
    with pytest.raises(ConfigError, match=words) as caught:
        load("personas", PersonasConfig)
    assert str(home) in str(caught.value)


def test_a_list_marks_the_one_that_is_active() -> None:
    personas = all_of(
        convert({**BARE, "personas": {"pirate": {"description": "At\nsea", "seed": "x"}}}, PersonasConfig, "")
    )
    assert listed(personas, "PIRATE").splitlines() == [
        "Active now: pirate. To switch: the persona's name, or default for none.",
        "- pirate: At sea",
        "- default: no persona",
    ]
    assert listed(personas, "gone").startswith("Active now: default.")


BARE: dict[str, Any] = {"tool": "persona", "description": "x", "parameters": {"type": "object"}}


@pytest.mark.parametrize("name", ["creative", "Creative", " CREATIVE\n"])
async def test_a_switch_is_kept_by_the_ledger_and_followed_at_once(scene: Calling, name: str) -> None:
    text = await scene.said(name=name)
    assert scene.service.asked == [(SetPersona(persona="creative"), ANN)]
    assert "in the persona creative from here on" in text
    assert "writer's companion" in text


async def test_the_users_own_persona_is_found_in_other_letters(scene: Calling) -> None:
    assert "Talk like a pirate." in await scene.said(BOB, name="sea-dog")
    assert scene.service.asked == [(SetPersona(persona="Sea Dog"), BOB)]


@pytest.mark.parametrize("name", ["default", "None", " DEFAULT "])
async def test_back_to_none(scene: Calling, name: str) -> None:
    assert "no persona any more" in await scene.said(name=name)
    assert scene.service.asked == [(SetPersona(persona=""), ANN)]


@pytest.mark.parametrize("name", ["butler", "creativ", "e", "creative; rm", "creative analytic", "é" * 5000, "*", "-"])
async def test_an_unknown_name_changes_nothing_and_lists_the_real_ones(scene: Calling, name: str) -> None:
    words = await scene.failure(name=name)
    assert words.startswith("There is no persona")
    assert words.endswith("There are: creative, analytic, operational, Sea Dog, or default for none.")
    assert scene.service.asked == []


@pytest.mark.parametrize("args", [{}, {"name": None}, {"name": "  "}, {"name": ""}])
async def test_without_a_name_they_are_listed(scene: Calling, args: dict[str, Any]) -> None:
    info = SessionInfo(
        session_id="s1", title="", created_at="", updated_at="", turns=1, running=True, persona="analytic"
    )
    scene.service.serve(GetSession, Session(session=info))
    lines = (await scene.said(**args)).splitlines()
    assert lines[0].startswith("Active now: analytic.")
    assert [line.partition(":")[0] for line in lines[1:]] == [
        "- creative",
        "- analytic",
        "- operational",
        "- Sea Dog",
        "- default",
    ]


@pytest.mark.parametrize("name", [5, ["creative"], {"name": "creative"}, True])
async def test_a_name_that_is_no_text_gets_words(scene: Calling, name: Any) -> None:
    assert (await scene.failure(name=name)).startswith("name: expected text")


async def test_the_session_is_the_calls_and_no_arguments(scene: Calling) -> None:
    await scene.said(BOB, name="creative", session_id="s1", user_id="ann")
    assert scene.service.asked[0][1] == BOB
    assert "belongs to no conversation" in await scene.failure(TurnRef("", "ann"), name="creative")


async def test_a_session_that_is_gone_is_said(scene: Calling) -> None:
    scene.service.serve(SetPersona, RequestFailed("not_found", "There is no conversation 's1'."))
    assert await scene.failure(name="creative") == "There is no conversation 's1'."


async def test_a_new_persona_is_told_to_all_when_the_yaml_changes(scene: Calling, home: Path) -> None:
    heard = Heard()
    scene.caller.on(Personas, heard)
    write(home, PIRATE.replace("Sea Dog", "butler"))
    scene.caller.publish(ConfigReload(section="personas"))
    told = await heard.first(lambda m: m.named("butler") is not None)
    schema = await scene.schemas.first(lambda m: "butler" in str(m.parameters))
    assert [persona.name for persona in told.personas] == [*BUILT_IN, "butler"]
    assert schema.parameters["properties"]["name"] == {
        "type": "string",
        "description": "creative, analytic, operational, butler or default. Leave it out to list them.",
    }
    assert await scene.caller.request(GetPersonas(), Personas) == told


async def test_a_bad_yaml_keeps_the_personas_that_there_were(scene: Calling, home: Path) -> None:
    write(home, "personas: {pirate: Arr}")
    scene.caller.publish(ConfigReload(section="personas"))
    note = await scene.presence.first(lambda m: "old settings kept" in m.note)
    assert "personas.yaml" in note.note
    assert (await scene.caller.request(GetPersonas(), Personas)).named("sea dog") is not None
