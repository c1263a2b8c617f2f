"""Time zones, by name and at the turn of the clocks."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bus.config import SystemConfig, load
from bus.testing import MemoryBus
from participants.tools import datetime as module
from participants.tools.base import ToolConfig, ToolFailed
from participants.tools.datetime import DateTimeTool, describe, local_zone, zone_named


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
        ("Japan", "Japan"),
        ("germany", "Europe/Berlin"),
        ("India", "Asia/Kolkata"),
        ("Etc/GMT+2", "Etc/GMT+2"),
    ],
)
def test_a_zone_is_found_by_its_name_its_city_or_its_country(name: str, key: str) -> None:
    zone = zone_named(name)
    assert isinstance(zone, ZoneInfo)
    assert zone.key == key


@pytest.mark.parametrize(
    ("name", "minutes"),
    [
        ("UTC+2", 120),
        ("utc +02:00", 120),
        ("GMT+2", 120),
        ("GMT-5", -300),
        ("+05:30", 330),
        ("-0330", -210),
        ("UTC\u22123", -180),
        ("UTC+14", 840),
        ("-0", 0),
    ],
)
def test_an_offset_counts_as_people_mean_it(name: str, minutes: int) -> None:
    assert zone_named(name) == timezone(timedelta(minutes=minutes))


@pytest.mark.parametrize("name", ["UTC+15", "+99", "-14:30", "UTC+24:00"])
def test_an_offset_that_no_place_has_is_refused(name: str) -> None:
    with pytest.raises(ToolFailed, match="further than 14 hours"):
        zone_named(name)


@pytest.mark.parametrize("name", ["utc", "UTC", "Z", "gmt"])
def test_utc_needs_no_zone_files(name: str) -> None:
    assert zone_named(name) is UTC


@pytest.mark.parametrize("name", ["", "  ", "local", "LOCAL", "here"])
def test_no_name_is_the_local_zone(name: str) -> None:
    assert zone_named(name) is None


def test_a_name_that_several_zones_of_one_time_have_will_do() -> None:
    assert zone_named("Istanbul") in (ZoneInfo("Asia/Istanbul"), ZoneInfo("Europe/Istanbul"))


def test_a_name_that_may_be_several_is_asked_back() -> None:
    with pytest.raises(ToolFailed, match="Australia/West, Brazil/West"):
        zone_named("West")


def test_a_country_with_several_times_is_asked_back() -> None:
    with pytest.raises(ToolFailed, match=r"can be Australia/Lord_Howe, .*: call again"):
        zone_named("Australia")


@pytest.mark.parametrize(
    "name",
    [
        "Atlantis",
        "UTC+5.5",
        "+",
        "2",
        "UTC+1:99",
        "+02:00:00",
        "posix/Europe/Paris",
        "../../etc/passwd",
        "/etc/localtime",
        "a\0b",
        "é" * 5000,
        "*",
    ],
)
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


def test_the_words_come_from_no_locale() -> None:
    """`%A` would follow whatever locale a library has set."""
    source = Path(module.__file__).read_text(encoding="utf-8")
    assert re.findall(r"%[AaBbcxXp]\b", source) == []


@pytest.mark.parametrize(
    ("variable", "target", "key"),
    [
        ("Asia/Tokyo", "/usr/share/zoneinfo/Europe/Paris", "Asia/Tokyo"),
        (":Asia/Tokyo", "/usr/share/zoneinfo/Europe/Paris", "Asia/Tokyo"),
        ("", "/usr/share/zoneinfo/Europe/Paris", "Europe/Paris"),
        ("", "../usr/share/zoneinfo/America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"),
        ("", "/var/db/timezone/zoneinfo/Europe/Paris", "Europe/Paris"),
    ],
)
def test_local_time_has_the_name_of_its_zone(tmp_path: Path, variable: str, target: str, key: str) -> None:
    (tmp_path / "localtime").symlink_to(target)
    zone = local_zone(variable, tmp_path / "localtime")
    assert isinstance(zone, ZoneInfo)
    assert zone.key == key


@pytest.mark.parametrize(
    ("variable", "target"), [("XYZ-3", "/zoneinfo/Europe/Paris"), (":/etc/localtime", "x"), ("", "/nowhere"), ("", "")]
)
def test_a_local_zone_without_a_name_is_left_to_the_system(tmp_path: Path, variable: str, target: str) -> None:
    link = tmp_path / "localtime"
    link.symlink_to(target or "self")
    assert local_zone(variable, link if target else tmp_path / "missing") is None


def test_without_zone_files_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_zones", frozenset)
    assert zone_named("UTC+2") == timezone(timedelta(hours=2))
    assert local_zone("Europe/Paris") is None
    with pytest.raises(ToolFailed, match="package tzdata"):
        zone_named("Paris")


def tool() -> DateTimeTool:
    return DateTimeTool(load("datetime", ToolConfig), MemoryBus().make("datetime"), SystemConfig(id="system"))


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"timezone": "Asia/Tokyo"}, "time zone Asia/Tokyo, UTC\\+09:00"),
        ({"tz": "Asia/Tokyo"}, "time zone Asia/Tokyo"),
        ({"timezone": None, "city": "tokyo"}, "time zone Asia/Tokyo"),
        ({"timezone": "+02:00"}, "time zone UTC\\+02:00, UTC\\+02:00"),
        ({}, "time zone Asia/Kathmandu, UTC\\+05:45"),
        ({"timezone": "local"}, "time zone Asia/Kathmandu"),
    ],
)
async def test_a_call(monkeypatch: pytest.MonkeyPatch, args: dict[str, Any], words: str) -> None:
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    assert re.fullmatch(rf"[A-Z][a-z]+day, \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d, {words}.*", await tool().run_call(args))


@pytest.mark.parametrize("value", [5, 2.0, True, ["Europe/Paris"], {"zone": "Paris"}])
async def test_what_is_no_text_is_refused_with_words(value: Any) -> None:
    with pytest.raises(ToolFailed, match="expected text such as Europe/Paris"):
        await tool().run_call({"timezone": value})
