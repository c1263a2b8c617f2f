"""What is a place, and how is one read from a provider's answer?

Providers name things differently, and their words reach the model: what is no plain name is left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

_NAME = re.compile(r"[^\W_][\w .,'’()/&+-]{0,79}")
_CITY = ("city", "town", "cityName")
_REGION = ("region", "region_name", "regionName", "state")
_COUNTRY = ("country_name", "countryName", "country")
_ZONE = ("timezone", "time_zone", "timeZone")
_ZONE_NAME = ("id", "name")


class Place(NamedTuple):
    """Where somebody is; empty and None where unknown."""

    name: str = ""
    country: str = ""
    latitude: float | None = None
    longitude: float | None = None
    timezone: str = ""

    @property
    def known(self) -> bool:
        """Whether it says where; a time zone alone does not."""
        return bool(self.name or self.country or self.coordinates)

    @property
    def coordinates(self) -> str:
        """Both, or none."""
        if self.latitude is None or self.longitude is None:
            return ""
        return f"latitude {self.latitude:g}, longitude {self.longitude:g}"


def describe(place: Place, source: str) -> str:
    """A place as one line for the model."""
    where = ", ".join(part for part in (place.name, place.country) if part)
    zone = f"time zone {place.timezone}" if place.timezone else ""
    return f"{'; '.join(part for part in (where, place.coordinates, zone) if part)} ({source})"


def read(answer: object) -> Place:
    """A provider's answer as a place; an empty one where it is an error, or says nothing usable."""
    if not isinstance(answer, dict):
        return Place()
    fields = cast("dict[str, Any]", answer)
    if fields.get("success") is False or fields.get("error") or fields.get("status") == "fail":
        return Place()
    city, region = _word(fields, _CITY), _word(fields, _REGION)
    name = ", ".join(dict.fromkeys(part for part in (city, region) if part))
    latitude, longitude = _coordinates(fields)
    return Place(name, _word(fields, _COUNTRY), latitude, longitude, _zone(fields))


def _word(fields: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    for key in keys:
        value = fields.get(key)
        if isinstance(value, str) and _NAME.fullmatch(value.strip()):
            return value.strip()
    return ""


def _zone(fields: Mapping[str, Any]) -> str:
    for key in _ZONE:
        if isinstance(fields.get(key), dict):
            return _word(cast("dict[str, Any]", fields[key]), _ZONE_NAME)
    return _word(fields, _ZONE)


def _coordinates(fields: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """As two numbers, or as one text `48.85,2.35`; both, or none."""
    pair = str(fields.get("loc", "")).split(",")
    latitude, longitude = pair if len(pair) == 2 else (None, None)
    found = (
        _degrees(fields.get("latitude", fields.get("lat", latitude)), 90),
        _degrees(fields.get("longitude", fields.get("lon", longitude)), 180),
    )
    return found if None not in found else (None, None)


def _degrees(value: object, most: float) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return round(number, 4) if math.isfinite(number) and abs(number) <= most else None
