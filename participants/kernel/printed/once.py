"""Which of the calls that a model made were only printed a second time?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from participants.kernel.registry import Registry
from participants.kernel.validate import InvalidArguments, fit, shown

Call = tuple[str, Any]


def once(native: Sequence[Call], printed: Sequence[Call], registry: Registry) -> list[Call]:
    """The native calls, and those that were printed and are not among them."""
    known = {_meaning(call, registry) for call in native}
    return [*native, *(call for call in printed if _meaning(call, registry) not in known)]


def _meaning(call: Call, registry: Registry) -> str:
    name, arguments = call
    schema = registry.get(name)
    if schema is None:
        return json.dumps([name, shown(arguments)], sort_keys=True)
    try:
        return json.dumps([schema.tool, fit(arguments, schema.parameters)], sort_keys=True)
    except InvalidArguments:
        return json.dumps([schema.tool, shown(arguments)], sort_keys=True)
