"""Where is the user?

What the settings say; else, only where the user turned it on, what a provider makes of the machine's
address. No place is ever logged.
"""

from __future__ import annotations

import asyncio
import re
from time import monotonic
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from bus.config import Section
from participants.tools.base import BaseTool, ToolConfig, ToolFailed
from participants.tools.location.place import Place, describe

Latitude = Annotated[float, Meta(ge=-90, le=90)]
Longitude = Annotated[float, Meta(ge=-180, le=180)]
_PROVIDER = r"^(https://[^/\s]+|http://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?)(/\S*)?$"
_UNKNOWN = (
    "The user's place is not set, and LoCAL2 does not look it up by itself. Ask the user, or tell them: set `place` in "
    "the settings under location (or in location.yaml), or `ip_lookup: true` there to have it looked up on the web."
)


class LocationConfig(ToolConfig, frozen=True, kw_only=True):
    """location.yaml."""

    place: Annotated[
        str, Meta(description="Where you are, such as Lyon; it stays on this machine.", max_length=200)
    ] = ""
    country: Annotated[str, Meta(description="Its country.", max_length=100)] = ""
    latitude: Annotated[Latitude | None, Meta(description="Degrees, north positive.")] = None
    longitude: Annotated[Longitude | None, Meta(description="Degrees, east positive.")] = None
    timezone: Annotated[str, Meta(description="Its IANA time zone, such as Europe/Paris.", max_length=64)] = ""
    ip_lookup: Annotated[
        bool, Meta(description="Without a place: ask a provider on the web, who sees this machine's address.")
    ] = False
    provider_url: Annotated[
        str, Meta(description="Who is asked: https and without a key; http on this machine alone.", pattern=_PROVIDER)
    ] = "https://ipwho.is/"
    lookup_s: Annotated[float, Meta(description="How long the provider may take.", gt=0, le=60)] = 5.0
    cache_s: Annotated[float, Meta(description="How long its answer is kept, in memory alone.", ge=0)] = 300.0


class LocationTool(BaseTool):
    """get_location."""

    CONFIG_NAME: ClassVar[str] = "location"
    Config: ClassVar[type[Section]] = LocationConfig
    config: LocationConfig  # pyright: ignore[reportIncompatibleVariableOverride]  set by the base class alone

    async def setup(self) -> None:
        """Nothing is known yet."""
        await super().setup()
        self._forget()

    def reconfigured(self, before: Any) -> None:
        """A lookup that was turned off leaves nothing behind."""
        self._forget()
        super().reconfigured(before)

    def _forget(self) -> None:
        self._found = Place()
        self._found_until = 0.0
        self._looking = asyncio.Lock()

    async def run_call(self, args: dict[str, Any]) -> str:
        """No args."""
        config = self.config
        chosen = Place(
            _one_line(config.place),
            _one_line(config.country),
            config.latitude,
            config.longitude,
            _one_line(config.timezone),
        )
        if chosen.known:
            return describe(chosen, "as the user has set it")
        if not config.ip_lookup:
            raise ToolFailed(_UNKNOWN)
        return describe(await self._looked_up(config), "roughly, from the network address: it may be wrong")

    async def _looked_up(self, config: LocationConfig) -> Place:
        """The provider's answer, asked for once however many want it."""
        async with self._looking:
            if monotonic() < self._found_until:
                return self._found
            # httpx costs memory that a tool without lookups need not pay.
            from participants.tools.location.provider import LookupFailed, look_up

            try:
                place = await look_up(config.provider_url, config.lookup_s)
            except LookupFailed as error:
                words = (
                    f"The location provider {error}. Ask the user where they are, or to set `place` in location.yaml."
                )
                raise ToolFailed(words) from error
            if config is self.config:  # else the settings changed meanwhile, and it is not to be kept
                self._found, self._found_until = place, monotonic() + config.cache_s
            return place


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
