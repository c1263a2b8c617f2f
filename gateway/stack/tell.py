"""How does `local2` tell the participants something? As one more client on the bus."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress

from bus.client import BusClient
from bus.config import BusConfig, SystemConfig, load
from bus.envelope import Envelope
from bus.messages.control import ConfigReload
from bus.messages.tool import ToolSchema, ToolSchemaRequest
from participants.participant import instance_of

_BUS_LIMIT_S = 5.0
_ANSWER_LIMIT_S = 3.0


def reload(sections: Sequence[str], enabled: Mapping[str, bool] | None = None) -> set[str]:
    """Let the participants read their yaml again.

    Args:
        sections: The yaml's names; one that is empty means all.
        enabled: Programs of tools that are waited for until they say that they are on or off.

    Returns:
        Those programs that did not say so in time: they do not run, or could not read their yaml.

    Raises:
        BusUnavailable: The proxy does not run.
    """
    return asyncio.run(_reload(sections, enabled or {}))


async def _reload(sections: Sequence[str], enabled: Mapping[str, bool]) -> set[str]:
    instance = instance_of(load("system", SystemConfig))
    client = BusClient(load("bus", BusConfig), name="local2", instance=instance, sender_id="local2")
    try:
        return await tell(client, sections, enabled, _ANSWER_LIMIT_S)
    finally:
        await client.close()


async def tell(client: BusClient, sections: Sequence[str], enabled: Mapping[str, bool], limit_s: float) -> set[str]:
    """See `reload`; `client` is opened here."""
    missing = dict(enabled)
    all_said = asyncio.Event()

    def heard(schema: ToolSchema, _envelope: Envelope) -> None:
        if missing.get(schema.name) == schema.policies.enabled:
            del missing[schema.name]
        if not missing:
            all_said.set()

    client.on(ToolSchema, heard)
    client.open()
    await client.wait_ready(_BUS_LIMIT_S)
    for section in sections:
        client.publish(ConfigReload(section=section))
    client.publish(ToolSchemaRequest())  # one whose yaml says what it said before is silent otherwise
    with suppress(TimeoutError):
        async with asyncio.timeout(limit_s if missing else 0):
            await all_said.wait()
    return set(missing)
