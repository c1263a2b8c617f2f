"""How is a question answered that is a slash command?

Its call takes the same way as a model's: journalled, bounded, approved where that is asked for, and not run twice after
a restart. What is left to say is the model's, or the result itself.
"""

from __future__ import annotations

from collections import Counter

from participants.agents.generator.journal import TurnJournal
from participants.agents.generator.model_round import Round
from participants.agents.generator.rounds import ModelRounds
from participants.agents.generator.tool_round import ToolRounds
from participants.kernel import commands
from participants.kernel.execute import ToolDispatcher


class TypedCommand:
    """The command that a question may be.

    Args:
        line: The question.
        tools: The dispatcher.
        rounds: Where its call runs.
        model: Fills in what is open.
        journal: The steps so far.
        counts: What happened, for the status.
    """

    def __init__(
        self,
        line: str,
        *,
        tools: ToolDispatcher,
        rounds: ToolRounds,
        model: ModelRounds,
        journal: TurnJournal,
        counts: Counter[str],
    ) -> None:
        self._line, self._tools, self._rounds = line, tools, rounds
        self._model, self._journal, self._counts = model, journal, counts

    def _asked(self) -> commands.Asked | None:
        return commands.read(self._line, self._tools.registry)

    async def run(self) -> str:
        """Run it; the answer, where that is all there is to say, and empty for no command, too."""
        asked = await self._tools.settled(self._asked) if commands.may_be(self._line) else None
        if asked is None:
            return ""
        self._counts["commands"] += 1
        if asked.fill and asked.schema is not None:
            asked = commands.filled(asked, await self._model.fill(asked.schema))
        if asked.schema is None:
            return asked.words
        await self._rounds.run(Round(calls=[(asked.schema.tool, asked.arguments)]))
        return ""

    def result_alone(self, *, unworded: bool = False) -> str:
        """The last results as the answer, where their tools want that; empty for none.

        Args:
            unworded: No model can put them in words, so those of a command will do, too.
        """
        last = self._journal.steps[-1].calls if self._journal.steps else []
        if any(call.outcome != "ok" for call in last):
            return ""
        found = [self._tools.registry.get(call.tool) for call in last]
        terminal = all(schema is not None and schema.policies.continuation == "terminal" for schema in found)
        typed = unworded and self._asked() is not None
        return "\n\n".join(call.result for call in last) if terminal or typed else ""
