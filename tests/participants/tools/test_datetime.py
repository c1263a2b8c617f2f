"""Time zones, by name and at the turn of the clocks."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from participants.tools.base import ToolFailed
from participants.tools.datetime import describe, zone_named


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Europe/Paris", "Europe/Paris"),
        ("europe/PARIS", "Europe/Paris"),
        (" paris ", "Europe/Paris"),
        ("New York", "America/New_York"),
        ("America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"),
        ("Tokyo", "Asia/Tokyo"),
        ("EST", "EST"),
    ],
)
def test_a_zone_is_found_by_its_name_or_its_city(name: str, key: str) -> None:
    zone = zone_named(name)
    assert isinstance(zone, ZoneInfo)
    assert zone.key == key


@pytest.mark.parametrize("name", ["utc", "UTC", "Z"])
def test_utc_needs_no_zone_files(name: str) -> None:
    assert zone_named(name) is UTC


@pytest.mark.parametrize("name", ["", "  ", "local", "LOCAL"])
def test_no_name_is_the_local_zone(name: str) -> None:
    assert zone_named(name) is None


def test_a_name_that_several_zones_of_one_time_have_will_do() -> None:
    assert zone_named("Istanbul") in (ZoneInfo("Asia/Istanbul"), ZoneInfo("Europe/Istanbul"))


def test_a_name_that_may_be_several_is_asked_back() -> None:
    with pytest.raises(ToolFailed, match="Australia/West, Brazil/West"):
        zone_named("West")


@pytest.mark.parametrize("name", ["Atlantis", "../../etc/passwd", "/etc/localtime", "a\0b", "é" * 5000, "*"])
def test_an_unknown_name_is_said_with_what_to_give_instead(name: str) -> None:
    with pytest.raises(ToolFailed, match="Give an IANA name"):
        zone_named(name)


@pytest.mark.parametrize(
    ("utc", "zone", "local", "offset"),
    [
        ("2026-10-25T00:30", "Europe/Paris", "Sunday, 2026-10-25 02:30:00", "+02:00"),
        ("2026-10-25T01:30", "Europe/Paris", "Sunday, 2026-10-25 02:30:00", "+01:00"),
        ("2026-03-29T00:59", "Europe/Paris", "Sunday, 2026-03-29 01:59:00", "+01:00"),
        ("2026-03-29T01:00", "Europe/Paris", "Sunday, 2026-03-29 03:00:00", "+02:00"),
        ("2026-01-01T00:00", "America/St_Johns", "Wednesday, 2025-12-31 20:30:00", "-03:30"),
        ("2026-01-01T00:00", "Asia/Kathmandu", "Thursday, 2026-01-01 05:45:00", "+05:45"),
        ("2026-01-01T00:00", "Pacific/Kiritimati", "Thursday, 2026-01-01 14:00:00", "+14:00"),
        ("2026-04-04T14:45", "Australia/Lord_Howe", "Sunday, 2026-04-05 01:45:00", "+11:00"),
        ("2026-04-04T15:15", "Australia/Lord_Howe", "Sunday, 2026-04-05 01:45:00", "+10:30"),
    ],
)
def test_a_moment_is_told_with_its_offset(utc: str, zone: str, local: str, offset: str) -> None:
    moment = datetime.fromisoformat(f"{utc}+00:00").astimezone(ZoneInfo(zone))
    assert describe(moment) == f"{local}, time zone {zone}, UTC{offset}"


def test_a_zone_without_a_key_has_its_short_name() -> None:
    assert describe(datetime(2026, 1, 1, tzinfo=UTC)) == "Thursday, 2026-01-01 00:00:00, time zone UTC, UTC+00:00"
