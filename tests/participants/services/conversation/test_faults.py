"""A store that cannot be used, and input that nobody should send."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from msgspec import Raw

from bus import envelope as wire
from bus.envelope import Envelope, TurnRef
from bus.messages.base import Message
from bus.messages.control import Done, Presence
from bus.messages.generation import ResponseGeneration
from bus.messages.ledger import (
    ClaimTurn,
    FinishTurn,
    GetTurn,
    JournalStep,
    JournalTurn,
    ListSessions,
    Sessions,
    Step,
    ToolRecord,
    Turn,
    TurnEnd,
    TurnHeld,
)
from bus.messages.query import CancelTurn, QueryReceived, SubmitTurn
from participants.services.conversation.config import ConversationConfig
from tests.participants.services.conversation.desk import Clock, Desk, turn

SUBMIT, END = SubmitTurn(query="Why?"), TurnEnd(status="answered", finish_reason="stop", answer="Because.")


def pragma(desk: Desk, text: str) -> None:
    with desk.service.store.read() as db:
        db.execute(f"PRAGMA {text}")


async def test_a_full_disk_is_said_in_words_and_loses_nothing(desk: Desk) -> None:
    await desk.submit(turn(1))
    await desk.claim(turn(1))
    pragma(desk, "max_page_count = 1")
    long = "x" * 100_000
    assert await desk.refused(SubmitTurn(query=long), turn(2)) == "storage"
    assert await desk.refused(JournalTurn(fence=1, n=0, answer=long), turn(1)) == "storage"
    assert desk.said_of(QueryReceived) == ["q1"]
    pragma(desk, "max_page_count = 1000000")
    await desk.ask(JournalTurn(fence=1, n=0, answer=long), TurnHeld, turn(1))
    await desk.finish(turn(1))
    await desk.submit(turn(2))
    assert desk.said_of(QueryReceived) == ["q1", "q2"]


async def test_a_store_that_cannot_be_written_refuses_and_goes_on_later(desk: Desk) -> None:
    await desk.submit(turn(1))
    await desk.submit(turn(2, session=2))
    await desk.claim(turn(2))
    await desk.ask(JournalTurn(fence=1, n=0), TurnHeld, turn(2))
    pragma(desk, "query_only = ON")
    for message, ref in ((SUBMIT, turn(3)), (ClaimTurn(holder="b"), turn(1)), (FinishTurn(fence=1, end=END), turn(2))):
        assert await desk.refused(message, ref) == "storage"
    await desk.ask(CancelTurn(), Done, turn(2))
    await desk.clock.forward(2000)
    assert desk.said(ResponseGeneration) == []
    pragma(desk, "query_only = OFF")
    await desk.clock.forward(200)
    assert [m.end.status for m in desk.said(ResponseGeneration)] == ["cancelled"]
    assert (await desk.claim(turn(1))).attempt == 1


async def test_a_damaged_file_is_refused_until_it_is_mended(local2_home: Path, clock: Clock) -> None:
    path = local2_home / "data" / "conversations.db"
    path.parent.mkdir()
    path.write_bytes(b"no database at all")
    desk = Desk(clock)
    await desk.open()
    assert await desk.refused(SUBMIT, turn(1)) == "storage"
    assert await desk.refused(ListSessions(), turn(1)) == "storage"
    assert path.read_bytes() == b"no database at all"
    envelopes = [wire.decode(frames[1]) for frames in desk.bus.frames]
    notes = [Presence.read(e).note for e in envelopes if e.message_type == "Presence"]
    assert any("is damaged; it was left as it is" in note for note in notes)
    path.unlink()
    await desk.clock.forward(2)
    await desk.submit(turn(1))
    assert desk.said_of(QueryReceived) == ["q1"]
    await desk.close()


async def test_damage_in_the_middle_is_said_and_nothing_is_written_over_it(desk: Desk) -> None:
    for number in range(30):
        await desk.answered(turn(number), "x" * 3000, "y" * 3000)
    await desk.close()
    path = desk.service.store.path
    body = bytearray(path.read_bytes())
    body[4096 * 3 :] = b"\xaa" * (len(body) - 4096 * 3)
    path.write_bytes(body)
    await desk.open()
    assert await desk.refused(SubmitTurn(query="x"), turn(99)) == "storage"
    assert path.read_bytes() == bytes(body)


async def test_who_holds_the_file_is_waited_for(desk: Desk) -> None:
    await desk.answered(turn(1))
    await desk.close()
    other = sqlite3.connect(desk.service.store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    await desk.open()
    assert await desk.refused(SUBMIT, turn(2)) == "storage"
    other.close()
    await desk.clock.forward(2)
    await desk.submit(turn(2))


async def test_a_file_that_was_taken_away_is_noticed(desk: Desk) -> None:
    await desk.answered(turn(1))
    desk.service.store.path.unlink()
    assert await desk.refused(SUBMIT, turn(2)) == "storage"


async def test_the_newest_file_ends_the_start_in_words(desk: Desk) -> None:
    pragma(desk, "user_version = 99")
    await desk.close()
    path = desk.service.store.path
    before = path.read_bytes()
    with pytest.raises(Exception, match="written by a newer LoCAL2"):
        await desk.service.setup()
    assert path.read_bytes() == before
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 1")
    db.close()
    await desk.open()


# ---------------------------------------------------------------------- hostile input


def refusals(desk: Desk) -> list[str]:
    """Messages of all refusals so far."""
    envelopes = [wire.decode(frames[1]) for frames in desk.bus.frames]
    return [bytes(e.payload).decode() for e in envelopes if e.message_type == "Refusal"]


@pytest.mark.parametrize(
    ("kind", "subject", "payload"),
    [
        ("SubmitTurn", "conversation.submit", b"{}"),
        ("SubmitTurn", "conversation.submit", b'{"query": 5}'),
        ("SubmitTurn", "conversation.submit", b'{"query": null}'),
        ("SubmitTurn", "conversation.submit", b'{"query": "x", "attachments": [5]}'),
        ("SubmitTurn", "conversation.submit", b"[]"),
        ("ClaimTurn", "conversation.submit", b'{"holder": "x"}'),
        ("JournalTurn", "conversation.journal", b'{"fence": "1", "n": 0}'),
        ("JournalStep", "conversation.step", b'{"fence": 1, "step": {"n": -1, "kind": "round"}}'),
        ("FinishTurn", "conversation.finish", b'{"fence": 1, "end": {}}'),
        ("ListSessions", "conversation.list", b'{"limit": 100000}'),
        ("RenameSession", "conversation.rename", b'{"title": ""}'),
        ("Nonsense", "conversation.submit", b"{}"),
    ],
)
async def test_a_malformed_request_is_refused_in_words(desk: Desk, kind: str, subject: str, payload: bytes) -> None:
    await desk.submit(turn(1))
    envelope = Envelope(
        message_id="evil-1",
        message_type=kind,
        subject=subject,
        sender_id="evil",
        timestamp_utc="",
        payload=Raw(payload),
        reply_to="inbox.evil",
        user_id="ann",
        session_id="s1",
        query_id="q2",
    )
    desk.bus.inject(subject.encode(), wire.encode(envelope))
    await desk.clock.forward(0)
    (refusal,) = refusals(desk)
    assert '"code":"bad_request"' in refusal
    assert desk.said_of(QueryReceived) == ["q1"]
    await desk.claim(turn(1))


@pytest.mark.parametrize(
    "frames",
    [
        (),
        (b"conversation.submit",),
        (b"conversation.submit", b"\xff\0"),
        (b"conversation.submit", b'{"message_id": "\\ud800"}'),
        (b"", b"", b""),
    ],
)
async def test_garbage_ends_nothing(desk: Desk, frames: tuple[bytes, ...]) -> None:
    desk.bus.inject(*frames)
    await desk.submit(turn(1))


@pytest.mark.parametrize(
    "message",
    [
        JournalTurn(fence=1, n=2**63, answer="x"),
        JournalStep(fence=1, step=Step(n=2**63, kind="round")),
        FinishTurn(fence=2**70, end=END),
        ClaimTurn(holder="b", pid=2**63),
    ],
)
async def test_numbers_beyond_all_bounds_are_refused(desk: Desk, message: Message) -> None:
    await desk.submit(turn(1))
    await desk.claim(turn(1))
    assert await desk.refused(message, turn(1)) in ("bad_request", "conflict")
    await desk.finish(turn(1))


@pytest.mark.parametrize("text", ["a\0b", "🙂" * 1000, "\u202e\x1b[31m\r\n", "x" * 200_000, "'; DROP TABLE turns; --"])
async def test_every_text_survives(desk: Desk, text: str) -> None:
    await desk.submit(turn(1), text)
    claim = await desk.claim(turn(1))
    await desk.ask(JournalTurn(fence=1, n=0, answer=text, thinking=text), TurnHeld, turn(1))
    call = ToolRecord(call_id=text, tool=text, args={text: text}, outcome="ok", result=text)
    await desk.ask(JournalStep(fence=1, step=Step(n=0, kind=text, text=text, calls=[call])), TurnHeld, turn(1))
    end = TurnEnd(status="failed", finish_reason=text, reason=text, answer=text, thinking=text, tool_calls=[call])
    await desk.ask(FinishTurn(fence=1, end=end), Done, turn(1))
    info = (await desk.ask(GetTurn(), Turn, turn(1))).turn
    assert (claim.query, info.query, info.end) == (text, text, end)


async def test_an_answer_of_many_megabytes_survives(desk: Desk) -> None:
    await desk.restart(ConversationConfig(id="ledger"))
    await desk.submit(turn(1))
    await desk.claim(turn(1))
    await desk.finish(turn(1), answer="x" * 5_000_000)
    assert len((await desk.ask(GetTurn(), Turn, turn(1))).turn.end.answer) == 5_000_000


async def test_an_unknown_user_sees_nothing(desk: Desk) -> None:
    await desk.answered(turn(1))
    assert (await desk.ask(ListSessions(), Sessions, TurnRef())).sessions == []
    assert await desk.refused(GetTurn(), TurnRef("s1", "", "q1")) == "not_found"
