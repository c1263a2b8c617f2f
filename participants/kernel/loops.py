"""Does a model go round in circles?

Rules over what a turn has called so far, so that a restart forgets nothing: the same call too often, in whatever order
with others, or one round after the other in which no call was one that could run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from bus.messages.ledger import Step
from participants.kernel.policies import canonical

_FRUITLESS = frozenset({"unknown", "disabled", "unavailable", "invalid_arguments"})


def stuck(steps: Sequence[Step], limit: int) -> str:
    """Why a turn should call no more tools, in words for the log; empty for no reason.

    Args:
        steps: The turn's, in order.
        limit: How often the same call, and how many fruitless rounds on end.
    """
    results = [step for step in steps if step.kind == "result"]
    seen = Counter(canonical(call.tool, call.args) for step in results for call in step.calls)
    if any(count >= limit for count in seen.values()):
        return "the same call again and again"
    fruitless = 0
    for step in results:
        fruitless = fruitless + 1 if all(call.outcome in _FRUITLESS for call in step.calls) else 0
    return "no call that can run" if fruitless >= limit else ""
