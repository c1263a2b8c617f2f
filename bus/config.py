"""How is a yaml read, merged, overridden and checked?

`config/<section>.yaml` holds the defaults (of a dropped-in participant, the yaml beside it),
`$LOCAL2_HOME/config/<section>.yaml` what the user changed, and `LOCAL2_<SECTION>__<KEY>` in the
environment wins over both.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, cast

import msgspec
import yaml
from msgspec import Meta, Struct

from bus import paths
from bus.errors import ConfigError

UNSET_ID = "[set id in yaml]"
_C_INT = 2**31 - 1
"""What ZeroMQ takes."""
_LARGEST = 2**53
"""Whole numbers beyond it are not the same in every program that reads JSON."""
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_T = TypeVar("_T", bound=Struct)


class Section(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every yaml may hold."""

    id: Annotated[str, Meta(description="What stands as sender_id on the bus.")] = UNSET_ID


class BusConfig(Section, frozen=True, kw_only=True):
    """bus.yaml: where the proxy is, for all."""

    transport: Annotated[Literal["ipc", "tcp"], Meta(description="ipc stays on this machine.")] = "ipc"
    host: Annotated[str, Meta(description="With tcp: a loopback address.")] = "127.0.0.1"
    publish_port: Annotated[int, Meta(description="With tcp: where participants publish.", ge=1, le=65535)] = 7811
    subscribe_port: Annotated[int, Meta(description="With tcp: where participants listen.", ge=1, le=65535)] = 7812
    high_water_mark: Annotated[int, Meta(description="Messages queued a connection.", ge=10, le=_C_INT)] = 20_000
    max_message_bytes: Annotated[int, Meta(description="A larger message is refused.", ge=65_536)] = 16_777_216
    reconnect_ms: Annotated[int, Meta(description="Pause between tries to reach the proxy.", ge=1, le=_C_INT)] = 10
    linger_ms: Annotated[int, Meta(description="How long unsent messages hold up an exit.", ge=0, le=_C_INT)] = 200
    request_timeout_s: Annotated[float, Meta(description="How long a request waits by default.", gt=0)] = 5.0
    resend_s: Annotated[float, Meta(description="An unanswered request is sent again after this.", ge=0.01)] = 0.5
    buffer: Annotated[int, Meta(description="Messages held while the proxy is away.", ge=0)] = 20_000

    def publish_to(self) -> str:
        """The address that PUB sockets connect to."""
        return self._address("bus-in.sock", self.publish_port)

    def subscribe_to(self) -> str:
        """The address that SUB sockets connect to."""
        return self._address("bus-out.sock", self.subscribe_port)

    def _address(self, name: str, port: int) -> str:
        if self.transport == "tcp":
            return f"tcp://{self.host}:{port}"
        return f"ipc://{paths.runtime_dir() / name}"


class SystemConfig(Section, frozen=True, kw_only=True):
    """system.yaml: what all participants share."""

    instance_id: Annotated[str, Meta(description="This machine's name on the bus; empty: the host name.")] = ""
    heartbeat_s: Annotated[float, Meta(description="Seconds between two beats.", ge=0.01)] = 3.0
    log_level: Annotated[Literal["debug", "info", "warning", "error"], Meta(description="How much is logged.")] = "info"
    drain_s: Annotated[float, Meta(description="How long running work may go on after SIGTERM.", gt=0)] = 8.0


def parse_yaml(text: str, file: str) -> dict[str, Any]:
    """A yaml mapping; an empty file is an empty one.

    Raises:
        ConfigError: It is no yaml, or no mapping; the text gives the line.
    """
    try:
        value = yaml.load(text, _Loader)  # noqa: S506  the C form of the safe loader
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        raise ConfigError(file, "", f"{where}{getattr(error, 'problem', None) or error}") from error
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in cast("dict[Any, Any]", value)):
        raise ConfigError(file, "", "expected `key: value` lines at the top")
    return cast("dict[str, Any]", value)


def read_yaml(path: Path) -> dict[str, Any]:
    """The file as a mapping; empty where there is none.

    Raises:
        ConfigError: It cannot be read or is no mapping.
    """
    try:
        return parse_yaml(path.read_text(encoding="utf-8"), str(path))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(str(path), "", f"cannot be read: {error}") from error


def merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """`over` laid on `base`, mappings key by key."""
    out = dict(base)
    for key, value in over.items():
        old = out.get(key)
        both = isinstance(old, dict) and isinstance(value, dict)
        out[key] = merge(cast("dict[str, Any]", old), cast("dict[str, Any]", value)) if both else value
    return out


def environment(section: str) -> Iterator[tuple[str, str, Any]]:
    """(variable, key, value) for each `LOCAL2_<SECTION>__<KEY>` that is set and not empty."""
    prefix = f"LOCAL2_{section.upper()}__"
    for variable, text in sorted(os.environ.items()):
        if variable.startswith(prefix) and text:
            yield variable, variable.removeprefix(prefix).lower(), parse_yaml(f"value: {text}", variable).get("value")


def default_file(section: str) -> Path:
    """Where a section's defaults are; what is dropped in cannot take the place of ours."""
    own = paths.defaults_dir() / "config" / f"{section}.yaml"
    dropped = paths.participants_dir() / own.name
    return dropped if dropped.exists() and not own.exists() else own


def layers(section: str) -> list[tuple[str, dict[str, Any]]]:
    """(source, values) from the weakest to the strongest: defaults, the user's file, the environment."""
    files = (default_file(section), paths.config_dir() / f"{section}.yaml")
    out = [(str(file), read_yaml(file)) for file in files]
    out.extend((variable, {key: value}) for variable, key, value in environment(section))
    return out


def load(section: str, kind: type[_T]) -> _T:
    """The section's merged yaml as a struct.

    Raises:
        ConfigError: The file, the key and what is expected.
    """
    merged: dict[str, Any] = {}
    for source, values in layers(section):
        merged = merge(merged, values)
        if merged:  # a participant that was dropped in has no defaults here: its file in the home is the first
            convert(merged, kind, source)
    return convert(merged, kind, f"{section}.yaml")


def convert(values: dict[str, Any], kind: type[_T], source: str) -> _T:
    """Check values against a struct.

    Raises:
        ConfigError: `source`, the key and what is expected.
    """
    try:
        section = msgspec.convert(values, kind, strict=True)
        unusable = next(_unusable(values, ""), None)
    except RecursionError as error:
        raise ConfigError(source, "", "something refers to itself, or is nested too deep") from error
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$.")
        raise ConfigError(source, where.rstrip("`"), what) from error
    if unusable is not None:
        raise ConfigError(source, *unusable)
    for where, key in _passed_over(values, msgspec.to_builtins(section), ""):
        raise ConfigError(source, where, f"Object contains unknown field `{key}`")
    return section


def _unusable(value: Any, where: str) -> Iterator[tuple[str, str]]:
    """(place, what is expected) of values of the right type that no timer, no JSON and no yaml can carry."""
    if isinstance(value, dict):
        for key, inner in cast("dict[Any, Any]", value).items():
            yield from _unusable(key, where)
            yield from _unusable(inner, f"{where}.{key}".lstrip("."))
    elif isinstance(value, list):
        for index, inner in enumerate(cast("list[Any]", value)):
            yield from _unusable(inner, f"{where}[{index}]")
    elif isinstance(value, float) and not math.isfinite(value):
        yield where, "Expected a finite number"
    elif isinstance(value, int) and abs(value) > _LARGEST:
        yield where, f"Expected a whole number of at most {_LARGEST}"
    elif isinstance(value, str) and value != value.encode("utf-8", "replace").decode():
        yield where, "Expected text without halves of surrogate pairs"


def _passed_over(given: Any, taken: Any, where: str) -> Iterator[tuple[str, str]]:
    """(place, key) of what a nested struct ignored: one that is a bus message's part, too, lets unknown fields pass."""
    if isinstance(given, dict) and isinstance(taken, dict):
        for key, value in cast("dict[str, Any]", given).items():
            if key not in taken:
                yield where, key
            else:
                yield from _passed_over(value, taken[key], f"{where}.{key}".lstrip("."))
    elif isinstance(given, list) and isinstance(taken, list):
        for index, (value, kept) in enumerate(zip(cast("list[Any]", given), cast("list[Any]", taken), strict=False)):
            yield from _passed_over(value, kept, f"{where}[{index}]")
