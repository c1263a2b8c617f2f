"""What time and date is it, here or in another time zone?"""

from __future__ import annotations

import sys
from datetime import UTC, datetime, tzinfo
from functools import cache
from typing import Any, ClassVar
from zoneinfo import ZoneInfo, available_timezones

from participants.participant import main
from participants.tools.base import BaseTool, ToolFailed


def zone_named(name: str) -> tzinfo | None:
    """The IANA zone of that name in any case, or the one whose city it is; None for the local zone.

    Raises:
        ToolFailed: There is none, or several cities have that name.
    """
    wanted = name.strip().replace(" ", "_").lower()
    if wanted in ("", "local"):
        return None
    if wanted in ("utc", "z"):
        return UTC  # known even where the machine has no zone files
    zones = _zones()
    exact = [zone for zone in zones if zone.lower() == wanted]
    found = exact or sorted(zone for zone in zones if zone.rpartition("/")[2].lower() == wanted)
    if len({str(datetime.now(ZoneInfo(zone)).utcoffset()) for zone in found}) == 1:
        return ZoneInfo(found[0])
    if found:
        raise ToolFailed(f"{name!r} can be {', '.join(found)}: call again with one of them.")
    raise ToolFailed(
        f"No time zone is called {name!r}. Give an IANA name such as Europe/Paris, or none for local time."
    )


@cache
def _zones() -> frozenset[str]:
    """Read once: it opens every zone file of the machine."""
    return frozenset(available_timezones())


def describe(moment: datetime) -> str:
    """`moment` (with its zone) as one line for the model."""
    offset = moment.strftime("%z")
    zone = getattr(moment.tzinfo, "key", None) or moment.tzname() or "local"
    return f"{moment:%A, %Y-%m-%d %H:%M:%S}, time zone {zone}, UTC{offset[:3]}:{offset[3:5]}"


class DateTimeTool(BaseTool):
    """get_datetime."""

    CONFIG_NAME: ClassVar[str] = "datetime"

    async def run_call(self, args: dict[str, Any]) -> str:
        """Args: `timezone`, an IANA name or a city; left out for local time."""
        zone = zone_named(args.get("timezone") or "")
        return describe(datetime.now(zone).astimezone(zone))


if __name__ == "__main__":
    sys.exit(main(DateTimeTool))
