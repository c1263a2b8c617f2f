"""What happens to the calls of one model message, from the wish to the results?

They run side by side, each once its user has approved it where that is asked for; their results stand in
request order. What each may do is settled and saved before any is sent, so that after a restart it is
known of every call whether it has a result, waits for its user, may be sent again, or is lost.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from bus.envelope import TurnRef
from bus.errors import RequestFailed, RequestTimeout
from bus.fault_points import FaultPoint, reached
from bus.messages.approval import Approval, OpenApproval, TakeApproval
from bus.messages.control import Done
from bus.messages.ledger import PastTurn, ToolRecord
from participants.agents.generator.config import GeneratorConfig
from participants.agents.generator.journal import TurnJournal
from participants.agents.generator.model_round import Round, RoundFailed
from participants.agents.generator.states import Action, State
from participants.kernel import loops, policies, results
from participants.kernel.approvals import Approvals
from participants.kernel.execute import Prepared, ToolDispatcher
from participants.state_machine import StateMachine

_SCHEMAS_S = 2.0
"""How long the tools of a resumed turn may take to announce themselves."""
_MOST_SURPLUS = 32
"""Calls over the limit that are answered one by one; the rest of a message is left out."""


class Planned(NamedTuple):
    """A call, and what is known of it before it is sent.

    Attributes:
        call: With its outcome where it has one.
        reason: Why its user is asked; empty where that is not so, or where it was asked before.
        told: Whether its end was told by an earlier attempt.
    """

    call: Prepared
    reason: str = ""
    told: bool = False

    @property
    def record(self) -> ToolRecord:
        """The call's record."""
        return self.call.record

    @property
    def changes(self) -> bool:
        """Whether it changes something without asking."""
        schema = self.call.schema
        return not self.record.approval and schema is not None and schema.policies.risk != "read"


class ToolRounds:
    """The tool calls of one attempt of a turn.

    Args:
        turn: Which turn.
        config: generator.yaml.
        tools: The dispatcher.
        approvals: What its user decides.
        machine: This turn's states.
        journal: Where steps are saved.
        history: The earlier turns that the model sees.
        pause: Called with True while the turn waits for its user, and with False after that.
    """

    def __init__(
        self,
        turn: TurnRef,
        *,
        config: GeneratorConfig,
        tools: ToolDispatcher,
        approvals: Approvals,
        machine: StateMachine[State, Action],
        journal: TurnJournal,
        history: Sequence[PastTurn],
        pause: Callable[[bool], None],
    ) -> None:
        self.calls: list[ToolRecord] = []
        self.outside = False
        """Whether the prompt holds content from outside beside calls and earlier turns: in a summary, or recalled."""
        self._turn, self._config, self._tools, self._approvals = turn, config, tools, approvals
        self._machine, self._journal, self._history, self._pause = machine, journal, history, pause
        self._seen: Counter[str] = Counter()
        self._undecided = 0
        self._decided = asyncio.Event()

    @property
    def waits(self) -> bool:
        """Whether a call waits for its user."""
        return self._undecided > 0

    @property
    def tainted(self) -> bool:
        """Whether the model has content from outside before it."""
        return self.outside or policies.tainted(self.calls, self._history)

    def stuck(self) -> str:
        """Why the model should call no more, in words for the log; empty for no reason."""
        return loops.stuck(self._journal.steps, self._config.max_identical_calls)

    # ------------------------------------------------------------------ a round

    async def run(self, done: Round) -> None:
        """All calls of one model message side by side, their results in request order."""
        self._machine.do(Action.DISPATCH_TOOL)
        planned = self._plan(done.calls)
        records = [one.record for one in planned]
        self._journal.round(done.text, records)
        self.calls.extend(records)
        if not all(one.call.over or self._harmless(one) for one in planned):
            await self._journal.saved()  # or a restart would run them twice
            reached(FaultPoint.CALLS_SAVED)
        self._machine.do(Action.AWAIT_RESULT)
        await self._collect(planned)

    def _plan(self, calls: Sequence[tuple[str, Any]]) -> list[Planned]:
        """What each call may do, given what the turn has done so far."""
        limit, steps = self._config.max_calls_at_once, len(self._journal.steps)
        tainted = self.tainted
        out: list[Planned] = []
        for index, (name, arguments) in enumerate(calls[: limit + _MOST_SURPLUS]):
            call = self._tools.prepare(name, arguments, f"{self._turn.query_id}-{steps}-{index}")
            key = policies.canonical(call.record.tool, call.record.args)
            self._seen[key] += 1
            if index >= limit:
                call = Prepared(results.surplus(call.record, limit), None)
            elif self._seen[key] > self._config.max_identical_calls:
                call = Prepared(results.repeated(call.record, self._seen[key] - 1), None)
            out.append(Planned(call) if call.over else self._ruled(call, tainted=tainted))
        return out

    def _ruled(self, call: Prepared, *, tainted: bool) -> Planned:
        """The call as its tool's policies want it: run, asked about, or not run."""
        record, schema = call
        assert schema is not None  # noqa: S101  for the type checker: it can be sent
        reason = policies.reason_to_ask(schema.policies, record.args, tainted=tainted)
        no = self._refusal(call, asks=bool(reason))
        if no:
            return Planned(Prepared(results.ended(record, "denied", no), schema))
        if reason:
            record = replace(record, approval=policies.approval_id(record.call_id, record.tool, record.args))
        return Planned(Prepared(record, schema), reason)

    def _refusal(self, call: Prepared, *, asks: bool) -> str:
        if call.schema is None:
            return ""
        denied = [record.tool for record in self.calls if record.outcome == "denied"]
        known = [(tool, self._tools.registry.get(tool)) for tool in dict.fromkeys(denied)]
        rules = [(tool, schema.policies if schema else None) for tool, schema in known]
        return policies.refusal(call.schema, rules, asks=asks)

    @staticmethod
    def _harmless(one: Planned) -> bool:
        """Whether this call may run twice."""
        schema = one.call.schema
        return schema is not None and schema.policies.idempotent and not one.record.approval

    # ------------------------------------------------------------------ running

    async def _collect(self, planned: Sequence[Planned]) -> None:
        self._undecided = sum(bool(one.record.approval) and not one.call.over for one in planned)
        self._decided.clear()
        if self.waits:
            self._wait()
        else:
            self._decided.set()
        ended: dict[str, ToolRecord] = {}
        try:
            async with asyncio.TaskGroup() as group:
                for one in planned:
                    group.create_task(self._one(one, ended, len(planned)))
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from failures
        self._journal.results([ended[one.record.call_id] for one in planned])
        late = any(record.outcome == "timeout" for record in ended.values())
        self._machine.do(Action.TOOL_TIMEOUT if late else Action.TOOL_RESULT)

    async def _one(self, one: Planned, ended: dict[str, ToolRecord], of: int) -> None:
        """One call to its end; what is there already is saved while others still run."""
        record = ended[one.record.call_id] = await self._end_of(one)
        reached(FaultPoint.RESULT_HEARD)
        self._replace(record)
        if len(ended) < of:
            self._journal.results([ended[r.call_id] for r in self.calls if r.call_id in ended])

    def _replace(self, record: ToolRecord) -> None:
        self.calls = [record if known.call_id == record.call_id else known for known in self.calls]

    async def _end_of(self, one: Planned) -> ToolRecord:
        if one.told:
            return one.record
        if one.call.over:
            return await self._tools.execute(one.call, self._turn)
        if one.record.approval:
            return await self._asked(one)
        if one.changes:
            await self._decided.wait()  # what is denied beside it is not to happen through it
            if no := self._refusal(one.call, asks=False):
                return await self._over(results.ended(one.record, "denied", no))
        return await self._tools.execute(one.call, self._turn)

    async def _over(self, record: ToolRecord) -> ToolRecord:
        """Tell of a call that is not sent."""
        return await self._tools.execute(Prepared(record, None), self._turn)

    # ------------------------------------------------------------------ approvals

    async def _asked(self, one: Planned) -> ToolRecord:
        """The call once its user has approved it, or as denied."""
        record = one.record
        try:
            state = await self._decision(one)
        except RequestFailed as error:  # it cannot be asked about, so it cannot be approved
            state, record = "denied", results.ended(record, "denied", f"Not run: {error}")
        if state not in ("approved", "taken"):
            record = record if record.outcome == "denied" else results.not_approved(record, state)
            self._replace(record)  # at once, so that the calls beside it know
        self._answered()
        if state == "taken":  # by an earlier attempt, which may have sent it
            return await self._again(one.call)
        return await (self._approved(record) if state == "approved" else self._over(record))

    async def _decision(self, one: Planned) -> str:
        record = one.record
        ask = OpenApproval(
            fence=self._journal.fence,
            approval_id=record.approval,
            call_id=record.call_id,
            tool=record.tool,
            args=record.args,
            reason=one.reason,
        )
        self._tools.tell_now()  # how the calls before it went is to be seen when the user is asked
        return (await self._approvals.settled(record.approval, self._surely(ask, Approval), self._turn)).state

    async def _approved(self, record: ToolRecord) -> ToolRecord:
        """Run what was approved, if the tool that it was approved for would still do exactly that."""
        await self._tools.until(lambda: self._tools.registry.get(record.tool), _SCHEMAS_S)
        call = self._tools.prepare(record.tool, record.args, record.call_id)
        if call.over:
            return await self._tools.execute(call, self._turn)
        if policies.approval_id(record.call_id, call.record.tool, call.record.args) != record.approval:
            words = f"Not run: {record.tool} has changed since the user approved this call. Ask again."
            return await self._over(results.ended(record, "denied", words))
        try:
            await self._surely(TakeApproval(fence=self._journal.fence, approval_id=record.approval), Done)
        except RequestFailed as error:  # it is used up, or void: whatever the reason, there is no approval
            return await self._over(results.ended(record, "denied", f"Not run: {error}"))
        running = Prepared(replace(call.record, approval=record.approval), call.schema)
        return await self._tools.execute(running, self._turn)

    async def _surely(self, message: OpenApproval | TakeApproval, expect: type[Any]) -> Any:
        """Ask the ledger.

        Raises:
            RequestFailed: It refused this approval.
            RoundFailed: The turn is somebody else's, or the ledger was away for too long.
        """
        try:
            return await self._journal.surely(message, expect)
        except RequestFailed as error:
            if error.code in ("bad_request", "not_approved"):
                raise
            raise RoundFailed("conflict", str(error)) from error
        except RequestTimeout as error:
            raise RoundFailed(
                "ledger_silent", "The user could not be asked: the conversation store is away."
            ) from error

    def _wait(self) -> None:
        self._pause(True)
        self._machine.do(Action.ASK_APPROVAL)

    def _answered(self) -> None:
        self._undecided -= 1
        if not self.waits and self._machine.can(Action.APPROVAL_RESULT):
            self._machine.do(Action.APPROVAL_RESULT)
            self._pause(False)
            self._decided.set()

    # ------------------------------------------------------------------ after a restart

    async def resume(self) -> None:
        """Results that were saved count; of the calls without one each goes on from where it was."""
        steps = self._journal.steps
        found = {record.call_id: record for step in steps if step.kind == "result" for record in step.calls}
        asked = [record for step in steps if step.kind == "round" for record in step.calls]
        self.calls = [found.get(record.call_id, record) for record in asked]
        self._seen.update(policies.canonical(record.tool, record.args) for record in asked)
        rounds = [step.calls for step in steps if step.kind == "round"]
        last = rounds[-1] if rounds else []
        left = [record for record in last if record.call_id not in found]
        if not left:
            return
        self._machine.do(Action.DISPATCH_TOOL)
        self._machine.do(Action.AWAIT_RESULT)
        await asyncio.gather(*[self._announced(tool) for tool in {record.tool for record in left}])
        await self._collect([self._resumed(found.get(record.call_id), record) for record in last])

    async def _announced(self, tool: str) -> None:
        await self._tools.until(lambda: self._tools.registry.get(tool), _SCHEMAS_S)

    def _resumed(self, ended: ToolRecord | None, record: ToolRecord) -> Planned:
        if ended is not None:
            return Planned(Prepared(ended, None), told=True)
        if record.outcome != "running":
            return Planned(Prepared(record, None))
        call = Prepared(record, self._tools.registry.get(record.tool))
        return Planned(call if record.approval else self._may_go_again(call))

    async def _again(self, call: Prepared) -> ToolRecord:
        return await self._tools.execute(self._may_go_again(call), self._turn)

    def _may_go_again(self, call: Prepared) -> Prepared:
        """A call that may have been sent before: safe where it is harmless, or goes to the same process."""
        record, schema = call
        if schema is not None and (schema.policies.idempotent or (record.boot and record.boot == schema.boot)):
            return call
        return Prepared(results.lost(record), None)
