"""How does a fact get into the user's memory?

Only by asking the memory's own program. Whose memory it is stands in the call's envelope; a fact that a
model read on a page waits for the user's approval (see the policies in remember_this.yaml).
"""

from __future__ import annotations

import sys
from typing import Any, ClassVar

from bus.messages.memory import FactKept, RememberFact
from participants.participant import main
from participants.tools import arguments
from participants.tools.base import BaseTool

_LONGEST = 1000


class RememberThisTool(BaseTool):
    """remember_this."""

    CONFIG_NAME: ClassVar[str] = "remember_this"

    async def run_call(self, args: dict[str, Any]) -> str:
        """Args: `fact`, `reason`."""
        wish = RememberFact(
            fact=arguments.text(args, "fact", _LONGEST),
            reason=arguments.text(args, "reason", _LONGEST, required=False),
        )
        kept = await self.ask(wish, FactKept, who="The memory")
        return f"This was known already: {kept.fact}" if kept.merged else f"Remembered: {kept.fact}"


if __name__ == "__main__":
    sys.exit(main(RememberThisTool))
