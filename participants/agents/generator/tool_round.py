"""What happens to the calls of one model message, from the wish to the results?

They run side by side; their results stand in request order. After a restart the calls that have a
result keep it, and of the others only those run again that may.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any, cast

from bus.envelope import TurnRef
from bus.messages.ledger import ToolRecord
from participants.agents.generator.config import GeneratorConfig
from participants.agents.generator.journal import TurnJournal
from participants.agents.generator.model_round import Round
from participants.agents.generator.states import Action, State
from participants.kernel.execute import ToolDispatcher
from participants.state_machine import StateMachine

_LOST = "The outcome of this call is unknown: the assistant was restarted meanwhile, and it is not run twice."


class ToolRounds:
    """The tool calls of one attempt of a turn.

    Args:
        turn: Which turn.
        config: generator.yaml.
        tools: The dispatcher.
        machine: This turn's states.
        journal: Where steps are saved.
    """

    def __init__(
        self,
        turn: TurnRef,
        *,
        config: GeneratorConfig,
        tools: ToolDispatcher,
        machine: StateMachine[State, Action],
        journal: TurnJournal,
    ) -> None:
        self.calls: list[ToolRecord] = []
        self._turn, self._config, self._tools, self._machine, self._journal = turn, config, tools, machine, journal
        self._seen: Counter[str] = Counter()

    async def run(self, done: Round) -> None:
        """All calls of one model message side by side, their results in request order."""
        self._machine.do(Action.DISPATCH_TOOL)
        steps = len(self._journal.steps)
        calls = [
            ToolRecord(call_id=f"{self._turn.query_id}-{steps}-{index}", tool=name, args=_as_args(arguments))
            for index, (name, arguments) in enumerate(done.calls)
        ]
        self._journal.round(done.text, calls)
        self.calls.extend(calls)
        self._seen.update(_call_key(call) for call in calls)
        if not self._harmless(calls):
            await self._journal.saved()  # or a restart would run them twice
        self._machine.do(Action.AWAIT_RESULT)
        await self._collect(calls, [arguments for _, arguments in done.calls])

    def repeats(self) -> bool:
        """Whether the model calls the same thing again and again."""
        return any(count >= self._config.max_identical_calls for count in self._seen.values())

    async def resume(self) -> None:
        """After a restart: results that were saved count; a call without one runs again only if that is harmless."""
        steps = self._journal.steps
        for step in steps:
            self.calls.extend(step.calls if step.kind == "round" else [])
            for record in step.calls if step.kind == "result" else []:
                self._replace(record)
        if not steps or steps[-1].kind != "round":
            return
        self._machine.do(Action.DISPATCH_TOOL)
        self._machine.do(Action.AWAIT_RESULT)
        calls = steps[-1].calls
        if self._harmless(calls):
            await self._collect(calls, [call.args for call in calls])
            return
        lost = [ToolRecord(call_id=c.call_id, tool=c.tool, args=c.args, outcome="crashed", result=_LOST) for c in calls]
        for record in lost:
            self._replace(record)
        self._journal.results(lost)
        self._machine.do(Action.TOOL_RESULT)

    def _harmless(self, calls: list[ToolRecord]) -> bool:
        """Whether each of these calls may run twice."""
        schemas = [self._tools.registry.get(call.tool) for call in calls]
        return all(schema is None or schema.policies.idempotent for schema in schemas)

    async def _collect(self, calls: list[ToolRecord], arguments: list[Any]) -> None:
        run = self._tools.run
        async with asyncio.TaskGroup() as group:
            pairs = zip(calls, arguments, strict=True)
            tasks = [group.create_task(run(c.tool, given, c.call_id, self._turn)) for c, given in pairs]
        ended = [task.result() for task in tasks]
        for record in ended:
            self._replace(record)
        self._journal.results(ended)
        late = any(record.outcome == "timeout" for record in ended)
        self._machine.do(Action.TOOL_TIMEOUT if late else Action.TOOL_RESULT)

    def _replace(self, record: ToolRecord) -> None:
        self.calls = [record if known.call_id == record.call_id else known for known in self.calls]


def _as_args(arguments: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", arguments) if isinstance(arguments, dict) else {}


def _call_key(call: ToolRecord) -> str:
    return f"{call.tool} {json.dumps(call.args, sort_keys=True)}"
