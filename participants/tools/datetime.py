"""What time and date is it, here or in another time zone?"""

from __future__ import annotations

import os
import re
import sys
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache
from pathlib import Path
from typing import Any, ClassVar
from zoneinfo import TZPATH, ZoneInfo, available_timezones

from participants.participant import main
from participants.tools.base import BaseTool, ToolFailed

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_LOCALTIME = Path("/etc/localtime")
_ARGUMENTS = ("timezone", "time_zone", "tz", "zone", "city", "location")
"""The schema's name for it, and what small models write instead."""
_OFFSET = re.compile(r"(?:utc|gmt)?([+-])(\d{1,2})(?::?([0-5]\d))?")
_FURTHEST = timedelta(hours=14)
_MOST_NAMED = 12


def zone_named(name: str) -> tzinfo | None:
    """The IANA zone of that name in any case, an offset such as UTC+2, or the zone of that city or country.

    Returns:
        None for the local zone.

    Raises:
        ToolFailed: There is none, or there are several whose time differs.
    """
    wanted = "_".join(name.replace("\u2212", "-").split()).lower()
    if wanted in ("", "local", "here"):
        return None
    if wanted in ("utc", "gmt", "z"):
        return UTC  # known even where the machine has no zone files
    exact = [zone for zone in _zones() if zone.lower() == wanted]
    if exact:
        return ZoneInfo(exact[0])
    return _offset(wanted.replace("_", ""), name) or _zone_of_place(wanted, name)


def _offset(wanted: str, name: str) -> tzinfo | None:
    """UTC+2 as people mean it, east of Greenwich; the zones called Etc/GMT+2 count the other way round."""
    match = _OFFSET.fullmatch(wanted)
    if match is None:
        return None
    sign, hours, minutes = match.groups()
    delta = timedelta(hours=int(hours), minutes=int(minutes or 0)) * (-1 if sign == "-" else 1)
    if abs(delta) > _FURTHEST:
        raise ToolFailed(f"{name!r} is no offset: no place on Earth is further than 14 hours from UTC.")
    return timezone(delta)


def _zone_of_place(wanted: str, name: str) -> tzinfo:
    cities = sorted(zone for zone in _zones() if zone.rpartition("/")[2].lower() == wanted)
    found = cities or [zone for zone in _zones_by_country().get(wanted, []) if zone in _zones()]
    if len({str(datetime.now(ZoneInfo(zone)).utcoffset()) for zone in found}) == 1:
        return ZoneInfo(found[0])
    if found:
        raise ToolFailed(f"{name!r} can be {', '.join(found[:_MOST_NAMED])}: call again with one of them.")
    if not _zones():
        raise ToolFailed("This machine has no time zone files (package tzdata), so it knows UTC and local time alone.")
    raise ToolFailed(
        f"No time zone is called {name[:80]!r}. Give an IANA name such as Europe/Paris, an offset such as UTC+2, "
        f"or none for local time."
    )


@cache
def _zones_by_country() -> dict[str, list[str]]:
    """From the tables beside the zone files, the most populous zone of a country first."""
    codes = {code: country for code, country, *_ in _table("iso3166.tab")}
    out: dict[str, list[str]] = {}
    for code, _coordinates, zone, *_ in _table("zone.tab"):
        out.setdefault("_".join(codes.get(code, code).split()).lower(), []).append(zone)
    return out


def _table(name: str) -> list[list[str]]:
    for folder in TZPATH:
        try:
            lines = (Path(folder) / name).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            continue
        return [[*line.split("\t"), "", ""] for line in lines if line and not line.startswith("#")]
    return []


@cache
def _zones() -> frozenset[str]:
    """Read once: it opens every zone file of the machine."""
    return frozenset(available_timezones())


def local_zone(variable: str, link: Path = _LOCALTIME) -> tzinfo | None:
    """The machine's zone under its IANA name; None where it has only an offset.

    Args:
        variable: The environment's TZ; empty where it is not set.
        link: What the system's setting is a link to.
    """
    for name in (variable.lstrip(":"), _linked_zone(link)):
        if name in _zones():
            return ZoneInfo(name)
        if name:
            return None  # TZ holds a rule of its own, which the C library knows
    return None


def _linked_zone(link: Path) -> str:
    try:
        target = os.readlink(link)
    except OSError:
        return ""  # no link, but a copy of a zone file
    return target.rpartition("zoneinfo/")[2]


def describe(moment: datetime) -> str:
    """`moment` (with its zone) as one line for the model, the same in each locale."""
    offset = moment.strftime("%z")
    zone = getattr(moment.tzinfo, "key", None) or moment.tzname() or "local"
    shown = moment.replace(tzinfo=None).isoformat(" ", "seconds")
    return f"{_WEEKDAYS[moment.weekday()]}, {shown}, time zone {zone}, UTC{offset[:3]}:{offset[3:5]}"


class DateTimeTool(BaseTool):
    """get_datetime."""

    CONFIG_NAME: ClassVar[str] = "datetime"

    async def run_call(self, args: dict[str, Any]) -> str:
        """Args: `timezone`, an IANA name, a city or an offset; left out for local time."""
        name = next((args[key] for key in _ARGUMENTS if args.get(key) is not None), "")
        if not isinstance(name, str):
            raise ToolFailed(f"timezone: expected text such as Europe/Paris, got {type(name).__name__}.")
        zone = zone_named(name) or local_zone(os.environ.get("TZ", ""))
        return describe(datetime.now(UTC).astimezone(zone))


if __name__ == "__main__":
    sys.exit(main(DateTimeTool))
