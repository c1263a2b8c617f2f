"""A proof without a model: whatever is asked in whatever order, with crashes between and within, the promises hold.

The test keeps its own account of what was acknowledged. A crash within a request happens just before or just
after its commit; the asker then does what our client does, and asks the same again.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import structlog
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from bus.envelope import TurnRef
from bus.errors import RequestFailed
from bus.messages.approval import Approval, DecideApproval, GetApproval, OpenApproval, TakeApproval
from bus.messages.base import Message
from bus.messages.control import Done, OpsProcess
from bus.messages.ledger import (
    ClaimTurn,
    DeleteSession,
    FinishTurn,
    GetSession,
    GetTurn,
    JournalTurn,
    ReleaseTurn,
    Session,
    Turn,
    TurnClaimed,
    TurnEnd,
)
from bus.messages.query import CancelTurn, QueryReceived, SubmitTurn, TurnAccepted
from participants.services.conversation.states import OPEN
from tests.participants.services.conversation.desk import RULES, Clock, Desk

CRASH = st.sampled_from(["", "", "", "before", "after"])
SESSION = st.sampled_from(["s1", "s1", "s2", "s3", "s4"])
HOLDER = st.sampled_from([("boot1", 1), ("boot1", 1), ("boot1", 1), ("boot2", 2)])
OTHERS = {"boot1": ("boot2", 2), "boot2": ("boot1", 1)}

FAST = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108  a kill needs no disk, only a power cut does


class KilledError(Exception):
    """The process dies here."""


class Ledger(RuleBasedStateMachine):
    """A ledger, and what it has acknowledged."""

    def __init__(self) -> None:
        super().__init__()
        self._home = tempfile.mkdtemp(prefix="l2-", dir=FAST)
        self._before = os.environ.get("LOCAL2_HOME")
        os.environ["LOCAL2_HOME"] = self._home
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger("critical"))
        self._runner = asyncio.Runner()
        self._count = 0
        self.accepted: dict[str, TurnRef] = {}
        self.claims: dict[str, tuple[str, int]] = {}
        self.fences: dict[tuple[str, int], str] = {}
        self.ended: dict[str, TurnEnd] = {}
        self.asked: dict[str, str] = {}
        self.decided: dict[str, str] = {}
        self.taken: dict[str, int] = {}
        self.run(self._open())

    async def _open(self) -> None:
        loop = asyncio.get_running_loop()
        clock = Clock(loop)
        loop.time = clock  # type: ignore[method-assign]
        self.desk = Desk(clock)
        await self.desk.open()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._runner.run(work)

    def teardown(self) -> None:
        try:
            self.run(self._all_is_answered())
        finally:
            self.run(self.desk.close())
            self._runner.close()
            structlog.reset_defaults()
            os.environ.pop("LOCAL2_HOME")
            os.environ.update({"LOCAL2_HOME": self._before} if self._before else {})
            shutil.rmtree(Path(self._home))

    # ------------------------------------------------------------------ asking

    async def _ask(self, message: Message, turn: TurnRef, crash: str = "") -> Message | str:
        """The answer, or the code of the refusal; asked again where a crash comes in between."""
        if crash:
            self._arm(crash)
        try:
            return await self.desk.ask(message, Message, turn)
        except RequestFailed as error:
            if error.code != "internal":
                return error.code
        finally:
            vars(self.desk.service.store).pop("write", None)
            self._take_grants()
        await self.desk.restart()
        return await self._ask(message, turn)

    def _take_grants(self) -> None:
        while self.desk.grants:
            grant, turn = self.desk.grants.pop(0)
            self.accepted[turn.query_id] = turn
            self._claimed(turn, grant.holder, grant.claim)

    def _arm(self, crash: str) -> None:
        store = self.desk.service.store
        original = store.write

        @contextmanager
        def write(*, durable: bool = False) -> Generator[Any]:
            with original(durable=durable) as db:
                yield db
                if crash == "before":
                    raise KilledError
            raise KilledError

        store.write = write  # type: ignore[method-assign]

    def _pick(self, data: st.DataObject, names: Any) -> str:
        return data.draw(st.sampled_from(sorted(names)))

    # ------------------------------------------------------------------ rules

    @rule(session=SESSION, crash=CRASH)
    def submit(self, session: str, crash: str) -> None:
        self._count += 1
        turn = TurnRef(session, "ann", f"q{self._count:03}")
        answer = self.run(self._ask(SubmitTurn(query=f"{turn.query_id}?"), turn, crash))
        if isinstance(answer, TurnAccepted):
            self.accepted[turn.query_id] = turn
        else:
            assert answer == "too_many"

    @rule(holder=HOLDER, crash=CRASH)
    def get_a_turn_unasked(self, holder: tuple[str, int], crash: str) -> None:
        """The only one that claims is given what comes next, while there is room."""
        self.holder_dies(OTHERS[holder[0]])
        for query_id, turn in sorted(self.accepted.items()):
            if query_id not in self.ended:
                message = ClaimTurn(holder=holder[0], pid=holder[1], name="generator", takes_grants=True)
                self._claimed(turn, holder[0], self.run(self._ask(message, turn)))
        self.submit(f"of its own {self._count}", crash)

    @precondition(lambda self: self.accepted)
    @rule(data=st.data())
    def submit_again(self, data: st.DataObject) -> None:
        turn = self.accepted[self._pick(data, self.accepted)]
        answer = self.run(self._ask(SubmitTurn(query="again?"), turn))
        assert isinstance(answer, TurnAccepted)

    @precondition(lambda self: self.accepted.keys() - self.ended)
    @rule(data=st.data(), holder=HOLDER, crash=CRASH)
    def claim(self, data: st.DataObject, holder: tuple[str, int], crash: str) -> None:
        turn = self.accepted[self._pick(data, self.accepted.keys() - self.ended)]
        message = ClaimTurn(holder=holder[0], pid=holder[1], name="generator", takes_grants=True)
        self._claimed(turn, holder[0], self.run(self._ask(message, turn, crash)))

    @precondition(lambda self: self.claims.keys() - self.ended)
    @rule(data=st.data())
    def take_over(self, data: st.DataObject) -> None:
        query_id = self._pick(data, self.claims.keys() - self.ended)
        old, _ = self.claims[query_id]
        new, pid = OTHERS[old]
        self.run(self.desk.clock.forward(RULES.lease_s + 1))
        turn = self.accepted[query_id]
        message = ClaimTurn(holder=new, pid=pid, name="generator")
        self._claimed(turn, new, self.run(self._ask(message, turn)))

    def _claimed(self, turn: TurnRef, holder: str, answer: Message | str) -> None:
        if isinstance(answer, TurnClaimed):
            assert turn.query_id not in self.ended
            assert self.fences.setdefault((turn.query_id, answer.fence), holder) == holder
            assert answer.query == f"{turn.query_id}?"
            self.claims[turn.query_id] = (holder, answer.fence)
        else:
            assert answer in ("waiting", "conflict", "ended")

    @precondition(lambda self: self.accepted)
    @rule()
    def claim_of_an_ended_turn(self) -> None:
        for query_id in sorted(self.ended)[:1]:
            assert self.run(self._ask(ClaimTurn(holder="boot1"), self.accepted[query_id])) == "ended"

    @precondition(lambda self: self.claims)
    @rule(data=st.data(), crash=CRASH, n=st.integers(-1, 9))
    def journal(self, data: st.DataObject, crash: str, n: int) -> None:
        query_id = self._pick(data, self.claims)
        message = JournalTurn(fence=self.claims[query_id][1], n=n, answer=f"text {n}")
        self.run(self._ask(message, self.accepted[query_id], crash))

    @precondition(lambda self: self.fences)
    @rule(data=st.data(), crash=CRASH, status=st.sampled_from(["answered", "failed", "cancelled"]))
    def finish(self, data: st.DataObject, crash: str, status: str) -> None:
        query_id, fence = data.draw(st.sampled_from(sorted(self.fences)))
        end = TurnEnd(status=status, finish_reason="stop", answer=f"by {fence}")
        answer = self.run(self._ask(FinishTurn(fence=fence, end=end), self.accepted[query_id], crash))
        if isinstance(answer, Done):
            newest = max(known for name, known in self.fences if name == query_id)
            assert fence == newest
            assert self.ended.setdefault(query_id, end).answer == f"by {fence}"
        else:
            assert answer in ("conflict", "ended")

    @precondition(lambda self: self.claims)
    @rule(data=st.data(), crash=CRASH)
    def release(self, data: st.DataObject, crash: str) -> None:
        query_id = self._pick(data, self.claims)
        self.run(self._ask(ReleaseTurn(fence=self.claims[query_id][1]), self.accepted[query_id], crash))

    @precondition(lambda self: self.accepted.keys() - self.ended)
    @rule(data=st.data(), crash=CRASH)
    def cancel(self, data: st.DataObject, crash: str) -> None:
        turn = self.accepted[self._pick(data, self.accepted.keys() - self.ended)]
        answer = self.run(self._ask(CancelTurn(), turn, crash))
        assert isinstance(answer, Done)

    @precondition(lambda self: self.accepted)
    @rule(data=st.data(), crash=CRASH)
    def delete(self, data: st.DataObject, crash: str) -> None:
        turn = self.accepted[self._pick(data, self.accepted)]
        assert self.run(self._ask(DeleteSession(), turn, crash)) in (Done(), "not_found")
        gone = {q for q, t in self.accepted.items() if t.session_id == turn.session_id}
        for names in (self.accepted, self.claims, self.ended):
            for query_id in gone & names.keys():
                del names[query_id]
        self.fences = {key: holder for key, holder in self.fences.items() if key[0] not in gone}
        self.asked = {name: query_id for name, query_id in self.asked.items() if query_id not in gone}

    # ------------------------------------------------------------------ approvals

    @precondition(lambda self: self.claims)
    @rule(data=st.data(), crash=CRASH, call=st.sampled_from(["c1", "c2"]))
    def ask_the_user(self, data: st.DataObject, crash: str, call: str) -> None:
        query_id = self._pick(data, self.claims)
        ask = OpenApproval(
            fence=self.claims[query_id][1], approval_id=f"{query_id}-{call}", call_id=call, tool="rm", args={}
        )
        answer = self.run(self._ask(ask, self.accepted[query_id], crash))
        if isinstance(answer, Approval):
            self.asked[ask.approval_id] = query_id
            self._stands(answer)
        else:
            assert answer in ("conflict", "ended")

    @precondition(lambda self: self.asked)
    @rule(data=st.data(), crash=CRASH, approved=st.booleans())
    def decide(self, data: st.DataObject, crash: str, approved: bool) -> None:
        approval_id = self._pick(data, self.asked)
        message = DecideApproval(approval_id=approval_id, approved=approved)
        answer = self.run(self._ask(message, TurnRef("", "ann"), crash))
        assert isinstance(answer, Approval)
        assert answer.approval.state != "open"
        self._stands(answer)

    @precondition(lambda self: self.asked)
    @rule(data=st.data(), crash=CRASH)
    def take(self, data: st.DataObject, crash: str) -> None:
        approval_id = self._pick(data, self.asked)
        query_id = self.asked[approval_id]
        fence = data.draw(st.sampled_from(sorted(f for name, f in self.fences if name == query_id)))
        answer = self.run(self._ask(TakeApproval(fence=fence, approval_id=approval_id), self.accepted[query_id], crash))
        if isinstance(answer, Done):
            assert self.decided[approval_id] in ("approved", "taken")
            assert self.taken.setdefault(approval_id, fence) == fence
        else:
            assert answer in ("not_approved", "conflict", "ended")

    def _stands(self, answer: Approval) -> None:
        """What was once decided stays so."""
        name, state = answer.approval.approval_id, answer.approval.state
        before = self.decided.get(name, "open")
        assert before in ("open", state) or (before, state) == ("approved", "taken")
        self.decided[name] = state

    @rule(holder=HOLDER)
    def holder_dies(self, holder: tuple[str, int]) -> None:
        self.run(self._say(OpsProcess(name="generator", event="died", pid=holder[1])))

    async def _say(self, message: Message) -> None:
        self.desk.asker.publish(message)
        await self.desk.clock.forward(0)

    @rule(seconds=st.sampled_from([5, 60, 101, 1001]))
    def time_passes(self, seconds: float) -> None:
        self.run(self.desk.clock.forward(seconds))

    @rule()
    def restart(self) -> None:
        self.run(self.desk.restart())

    # ------------------------------------------------------------------ promises

    @invariant()
    def what_was_accepted_is_there_once_and_in_order(self) -> None:
        self.run(self._check())

    async def _check(self) -> None:
        sessions: dict[str, list[str]] = {}
        for query_id, turn in self.accepted.items():
            sessions.setdefault(turn.session_id, []).append(query_id)
        claimed = 0
        for session_id, query_ids in sessions.items():
            got = await self.desk.ask(GetSession(), Session, TurnRef(session_id, "ann"))
            assert [turn.query_id for turn in got.turns] == query_ids
            states = [turn.status for turn in got.turns]
            opened = [state for state in states if state in OPEN]
            assert not {"claimed", "waiting"} & set(opened[1:])
            claimed += opened[:1] == ["claimed"]
            for turn in got.turns:
                known = self.ended.get(turn.query_id)
                assert known is None or (turn.status, turn.end.answer) == (known.status, known.answer)
                if turn.status not in OPEN:
                    self.ended[turn.query_id] = turn.end
        assert claimed <= RULES.max_active + len(self.asked)  # who waited goes on, whoever began meanwhile
        for name in sorted(self.asked):
            self._stands(await self.desk.ask(GetApproval(approval_id=name), Approval, TurnRef("", "ann")))
            assert self.decided[name] != "open" or self.asked[name] not in self.ended

    async def _answer_what_is_offered(self, turn: TurnRef) -> None:
        info = await self.desk.ask(GetTurn(), Turn, turn)
        if info.turn.status in OPEN and turn.query_id in self.desk.said_of(QueryReceived):
            claim = await self.desk.ask(ClaimTurn(holder="last"), TurnClaimed, turn)
            end = TurnEnd(status="answered", finish_reason="stop", answer="done")
            await self.desk.ask(FinishTurn(fence=claim.fence, end=end), Done, turn)

    async def _all_is_answered(self) -> None:
        """In the end, somebody who answers what he is offered gets everything done."""
        await self.desk.restart()
        for _ in range(2):  # where one waited for its user, more than usual have begun: some come after those
            for query_id in sorted(self.accepted):
                await self._say(OpsProcess(name="generator", event="died", pid=0))
                await self._answer_what_is_offered(self.accepted[query_id])
        await self._check()
        assert set(self.ended) == set(self.accepted)
        await self.desk.clock.forward(RULES.lease_s + 1)
        assert self.desk.service.keeper.idle


Ledger.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestLedger = Ledger.TestCase
