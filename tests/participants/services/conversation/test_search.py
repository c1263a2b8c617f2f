"""Finding turns by their words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from bus import paths
from bus.envelope import TurnRef
from bus.messages.control import Done
from bus.messages.ledger import DeleteSession, Mark, SearchTurns, TurnHit, TurnsFound
from participants.services.conversation.schema import CONVERSATIONS, MIGRATIONS
from participants.services.conversation.search import expression, unmarked
from participants.services.conversation.store import Store
from participants.services.conversation.substrings import excerpt
from tests.participants.services.conversation.desk import Desk, turn


@contextmanager
def opened(path: Path, migrations: tuple[tuple[str, ...], ...] = MIGRATIONS) -> Iterator[Store]:
    """A store while the block lasts."""
    store = Store(path, replace(CONVERSATIONS, migrations=migrations))
    store.open()
    yield store
    store.close()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("  ?! ", ""),
        ("boots", '"boots"*'),
        ("rain boots", '"rain" "boots"*'),
        ('"rain" OR NOT boots) NEAR *', '"rain" "OR" "NOT" "boots" "NEAR"*'),
        ("query:x -y ^z", '"query" "x" "y" "z"*'),
        ("user_id=7", '"user" "id" "7"*'),
        ("a " * 100, " ".join(['"a"'] * 16) + "*"),
    ],
)
def test_what_is_typed_becomes_words(text: str, expected: str) -> None:
    assert expression(text) == expected


@pytest.mark.parametrize(
    ("text", "plain", "marks"),
    [
        ("", "", []),
        ("a \x02bc\x03 d \x02e\x03", "a bc d e", [(2, 4), (7, 8)]),
        ("\x02🙂é\x03x", "🙂éx", [(0, 2)]),
        ("stray \x03 and \x02 marks", "stray  and  marks", [(0, 6)]),
    ],
)
def test_marks_become_places(text: str, plain: str, marks: list[tuple[int, int]]) -> None:
    assert unmarked(text) == (plain, [Mark(start=start, end=end) for start, end in marks])


async def found(desk: Desk, text: str, user: str = "ann") -> list[TurnHit]:
    """What a user finds."""
    return (await desk.ask(SearchTurns(text=text), TurnsFound, TurnRef(user_id=user))).hits


async def test_a_user_finds_his_own_turns_by_question_and_answer(desk: Desk) -> None:
    await desk.answered(turn(1, session=1), "Which boots for rain?", "Rubber ones.")
    await desk.answered(turn(2, session=2), "Und in Tōkyō?", "Take rubber boots.")
    await desk.answered(turn(3, session=3, user="bob"), "rubber boots", "bob's")
    assert {hit.query_id for hit in await found(desk, "rub")} == {"q1", "q2"}
    (hit,) = await found(desk, "TOKYO")
    assert (hit.session_id, hit.title, hit.snippet) == ("s2", "Und in Tōkyō?", "Und in Tōkyō?")
    assert [hit.snippet[mark.start : mark.end] for mark in hit.marks] == ["Tōkyō"]
    assert [h.query_id for h in await found(desk, "boots", user="bob")] == ["q3"]
    limited = await desk.ask(SearchTurns(text="rubber", limit=1), TurnsFound, TurnRef(user_id="ann"))
    assert len(limited.hits) == 1
    assert await found(desk, "boots rain umbrella") == []
    assert await found(desk, "*") == []


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("东京", ["东京"]),
        ("旅行", ["旅行"]),
        ("ラーメン 東京", ["東京", "ラーメン"]),
        ("서울", ["서울"]),
        ("กรุงเทพ", ["กรุงเทพ"]),
        ("दिल्ली", ["दिल्ली"]),
        ("𠮷野家", ["𠮷野家"]),
        ("gpt 模型", ["GPT", "模型"]),
        ("100%的", ["100%的"]),
    ],
)
async def test_words_without_spaces_between_them_are_found(desk: Desk, text: str, marked: list[str]) -> None:
    said = "我想去东京旅行。 東京のラーメン屋 서울에서부터 ไปกรุงเทพมหานคร दिल्लीवाला 𠮷野家へ 用GPT模型 100%的"
    await desk.answered(turn(1, session=1), "Where?", "x" * 99)
    await desk.answered(turn(2, session=1), "No.", said)
    await desk.answered(turn(3, session=3, user="bob"), said, said)
    await desk.submit(turn(4, session=4), said)
    (hit,) = await found(desk, text)
    assert hit.query_id == "q2"
    assert [hit.snippet[mark.start : mark.end] for mark in hit.marks] == marked


async def test_a_word_that_is_nowhere_is_not_found(desk: Desk) -> None:
    await desk.answered(turn(1), "100 的", "大阪")
    for text in ("东京", "1%的", "1_0 的", "大阪 东京", "的\\", "的" * 100_000):
        assert await found(desk, text) == []


def test_an_excerpt_shows_the_first_word_and_marks_all() -> None:
    text = "字" * 100 + "山川" + "字" * 30 + "川" + "字" * 100
    snippet, marks = excerpt(text, ["川", "海"])
    assert snippet == "…" + "字" * 19 + "山川" + "字" * 30 + "川" + "字" * 29 + "…"
    assert [snippet[mark.start : mark.end] for mark in marks] == ["川", "川"]
    assert excerpt("短", ["川"]) == ("短", [])


async def test_a_turn_is_found_once_it_has_ended(desk: Desk) -> None:
    await desk.submit(turn(1), "unicorn")
    assert await found(desk, "unicorn") == []
    await desk.claim(turn(1))
    await desk.finish(turn(1))
    assert [h.query_id for h in await found(desk, "unicorn")] == ["q1"]


async def test_what_is_deleted_is_in_no_index(desk: Desk) -> None:
    await desk.answered(turn(1, session=1), "xylophone", "marimba")
    await desk.answered(turn(2, session=2), "drum", "gong")
    await desk.submit(turn(3, session=1), "vibraphone")
    await desk.ask(DeleteSession(), Done, turn(1, session=1))
    assert await found(desk, "xylophone") == []
    assert [h.query_id for h in await found(desk, "gong")] == ["q2"]
    await desk.close()
    left = paths.data_dir().joinpath("conversations.db").read_bytes()
    assert [word for word in (b"xylophone", b"marimba", b"vibraphone", b"xylo") if word in left] == []
    await desk.open()


def test_an_older_store_is_indexed(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with opened(path, MIGRATIONS[:1]) as old, old.write() as db:
        row = "INSERT INTO turns (query_id, session_id, user_id, parent_id, state, created_at, model, persona, "
        row += "attachments, query, answer) VALUES (?, 's', 'alice', '', ?, '', '', '', '', ?, ?)"
        db.execute("INSERT INTO sessions VALUES ('s', 'alice', 'T', '', '', '', '')")
        db.execute(row, ("q1", "answered", "old boots", "yes"))
        db.execute(row, ("q2", "received", "open boots", ""))
    with opened(path) as store:
        assert [hit.query_id for hit in store.find("alice", "boots", 10)] == ["q1"]
        session = store.session("s")
        assert session is not None
        store.delete(session)
        assert store.find("alice", "boots", 10) == []
