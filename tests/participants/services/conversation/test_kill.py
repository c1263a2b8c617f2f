"""Real processes: the ledger is killed in the middle of its work."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3

from bus import paths
from bus.client import BusClient
from bus.envelope import Envelope, TurnRef
from bus.errors import RequestFailed
from bus.messages.control import Done, Presence
from bus.messages.ledger import (
    ClaimTurn,
    FinishTurn,
    GetSession,
    GetTurn,
    JournalTurn,
    ListSessions,
    Session,
    Sessions,
    Turn,
    TurnClaimed,
    TurnEnd,
    TurnHeld,
)
from bus.messages.query import QueryReceived, SubmitTurn, TurnAccepted
from tests.support.stage import LIMIT_S, Heard, Running, Stage, presence

LEDGER = "participants.services.conversation"
SESSIONS, QUESTIONS = 6, 8


class Answerer:
    """Claims and answers what is offered, as a generator would."""

    def __init__(self, client: BusClient) -> None:
        self._client = client
        self._running: set[str] = set()
        self.answered: list[str] = []
        self._progress = asyncio.Event()
        client.on(QueryReceived, self._offered)

    def _offered(self, message: QueryReceived, envelope: Envelope) -> None:
        if envelope.query_id not in self._running:
            self._running.add(envelope.query_id)
            self._client.spawn(self._answer(envelope.turn), name="answer")

    async def _answer(self, turn: TurnRef) -> None:
        with contextlib.suppress(RequestFailed):
            claim = await self._client.request(ClaimTurn(holder=self._client.boot), TurnClaimed, turn=turn)
            for n in range(3):
                journal = JournalTurn(fence=claim.fence, n=n, answer=f"{claim.query} " * n)
                await self._client.request(journal, TurnHeld, turn=turn)
            end = TurnEnd(status="answered", finish_reason="stop", answer=f"to {claim.query}: {len(claim.history)}")
            await self._client.request(FinishTurn(fence=claim.fence, end=end), Done, turn=turn)
            self.answered.append(turn.query_id)
        self._running.discard(turn.query_id)
        self._progress.set()

    async def until(self, number: int) -> None:
        """Wait until so many turns were answered."""
        while len(self.answered) < number:
            self._progress.clear()
            await self._progress.wait()


async def ready_ledger(stage: Stage, heard: Heard) -> Running:
    heard.forget()
    running = await stage.start(LEDGER)
    await heard.first(presence("conversation"))
    return running


async def test_a_killed_ledger_loses_nothing_and_doubles_nothing(stage: Stage) -> None:
    await stage.start("bus.proxy")
    client, asker = await stage.client("generator"), await stage.client("asker")
    heard = Heard()
    asker.on(Presence, heard)
    ledger = await ready_ledger(stage, heard)
    answerer = Answerer(client)

    async def talk(session: int) -> None:
        for question in range(QUESTIONS):
            turn = TurnRef(f"s{session}", "ann", f"s{session}-{question}")
            await asker.request(SubmitTurn(query=f"{question}?"), TurnAccepted, turn=turn, timeout_s=LIMIT_S)

    async with asyncio.timeout(3 * LIMIT_S):
        talks = [asyncio.create_task(talk(session)) for session in range(SESSIONS)]
        for done in (2, 9, 17, 30):
            await answerer.until(done)
            await ledger.kill()
            ledger = await ready_ledger(stage, heard)
        await asyncio.gather(*talks)
        await answerer.until(SESSIONS * QUESTIONS)
    assert len(set(answerer.answered)) == len(answerer.answered)
    for session in range(SESSIONS):
        got = await asker.request(GetSession(), Session, turn=TurnRef(f"s{session}", "ann"))
        assert [(t.query_id, t.status, t.end.answer) for t in got.turns] == [
            (f"s{session}-{n}", "answered", f"to {n}?: {n}") for n in range(QUESTIONS)
        ]


async def test_a_holder_that_dies_is_replaced_after_its_lease(stage: Stage) -> None:
    stage.setting("conversation", "lease_s: 0.2")
    await stage.start("bus.proxy")
    client = await stage.client("generator")
    heard, offers = Heard(), Heard()
    client.on(Presence, heard)
    client.on(QueryReceived, offers)
    await ready_ledger(stage, heard)
    turn = TurnRef("s", "ann", "q")
    await client.request(SubmitTurn(query="Why?"), TurnAccepted, turn=turn)
    await client.request(ClaimTurn(holder="dead"), TurnClaimed, turn=turn)
    await offers.first(lambda message: message.redelivered)
    assert (await client.request(ClaimTurn(holder="alive"), TurnClaimed, turn=turn)).attempt == 2


async def test_everything_is_there_after_a_kill_of_all(stage: Stage) -> None:
    proxy = await stage.start("bus.proxy")
    client = await stage.client()
    heard = Heard()
    client.on(Presence, heard)
    ledger = await ready_ledger(stage, heard)
    turn = TurnRef("s", "ann", "q")
    await client.request(SubmitTurn(query="Why?"), TurnAccepted, turn=turn)
    claim = await client.request(ClaimTurn(holder="me"), TurnClaimed, turn=turn)
    await client.request(JournalTurn(fence=claim.fence, n=7, answer="Half"), TurnHeld, turn=turn)
    await ledger.kill()
    await proxy.kill()
    await stage.start("bus.proxy")
    await stage.start(LEDGER)  # its presence may come before we are connected again; a request is sent until answered
    info = (await client.request(GetTurn(), Turn, turn=turn, timeout_s=LIMIT_S)).turn
    assert (info.status, info.n, info.end.answer) == ("claimed", 7, "Half")
    assert (await client.request(ClaimTurn(holder="me"), TurnClaimed, turn=turn)).fence == claim.fence


async def test_a_stop_keeps_the_store_whole(stage: Stage) -> None:
    await stage.start("bus.proxy")
    client = await stage.client()
    heard = Heard()
    client.on(Presence, heard)
    ledger = await ready_ledger(stage, heard)
    await client.request(SubmitTurn(query="Why?"), TurnAccepted, turn=TurnRef("s", "ann", "q"))
    ledger.send(15)
    assert await ledger.ended() == 0
    assert sorted(file.name for file in paths.data_dir().iterdir()) == ["conversations.db"]
    await ready_ledger(stage, heard)
    listed = await client.request(ListSessions(), Sessions, turn=TurnRef("", "ann"))
    assert [session.turns for session in listed.sessions] == [1]


async def test_a_newer_file_ends_the_process_in_words(stage: Stage) -> None:
    await stage.start("bus.proxy")
    client = await stage.client()
    heard = Heard()
    client.on(Presence, heard)
    await (await ready_ledger(stage, heard)).kill()
    with sqlite3.connect(paths.data_dir() / "conversations.db") as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    ledger = await stage.start(LEDGER)
    assert await ledger.ended() == 1
    assert "was written by a newer LoCAL2" in ledger.output
    assert "Traceback" not in ledger.output
