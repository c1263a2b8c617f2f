"""Which settings are there, where does each value come from, and how is one changed?

Read from the participants' config structs; what a user changes goes to `$LOCAL2_HOME/config`, and
only that: a value equal to the default is taken out again.
"""

from __future__ import annotations

import importlib
import re
from types import UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

import msgspec
import structlog
from msgspec import Meta, Struct

from bus import config, paths
from bus.config import Section
from bus.errors import ConfigError
from gateway import yaml_edit

log = structlog.get_logger()

SECTIONS = {
    "system": "bus.config:SystemConfig",
    "bus": "bus.config:BusConfig",
    "gateway": "gateway.config:GatewayConfig",
    "models": "participants.models:ModelsConfig",
    "generator": "participants.agents.generator.config:GeneratorConfig",
    "memory": "participants.agents.memory.config:MemoryConfig",
    "tool_dispatcher": "participants.kernel.execute:ToolDispatcherConfig",
    "conversation": "participants.services.conversation.config:ConversationConfig",
    "critic": "participants.agents.critic.config:CriticConfig",
    "memory_store": "participants.services.memory_store.config:MemoryStoreConfig",
    "compaction": "participants.services.compaction.config:CompactionConfig",
    "reward": "participants.services.reward.service:RewardConfig",
    "model_server": "participants.services.model_server.participant:ModelServerConfig",
    "ops": "participants.services.ops.service:OpsConfig",
    "datetime": "participants.tools.base:ToolConfig",
    "web_search": "participants.tools.web_search.tool:WebSearchConfig",
    "web_fetch": "participants.tools.web_fetch.tool:WebFetchConfig",
    "semantic_scholar": "participants.tools.semantic_scholar.tool:SemanticScholarConfig",
    "location": "participants.tools.location.tool:LocationConfig",
    "personas": "participants.tools.personas:PersonasConfig",
    "remember_this": "participants.tools.base:ToolConfig",
    "search_memory": "participants.tools.search_memory:SearchMemoryConfig",
    "documents": "participants.tools.documents:DocumentsConfig",
    "librarian": "participants.tools.librarian.tool:LibrarianConfig",
}
"""Section to its struct; imported when first asked for, so none of these may bring a heavy library."""

_MISSING = object()
_READ_AT_START = frozenset({"system", "bus", "gateway.host", "gateway.port"})
"""Sections and keys that no running program reads again."""
_SAID = ("description", "ge", "gt", "le", "lt")
_SECRET = re.compile(r"(^|_)(secret|token|password|key)$")


class Setting(Struct, frozen=True, kw_only=True):
    """One key of one section."""

    section: str
    key: str
    value: Any
    default: Any
    source: str
    """default, user, or the environment variable that sets it."""
    description: str
    type: str
    choices: list[Any] | None = None
    minimum: float | None = None
    above: float | None = None
    """It has to be more than this."""
    maximum: float | None = None
    below: float | None = None
    """It has to be less than this."""
    restart: bool = False
    """Whether a change is in force only after a restart."""


class Problem(Struct, frozen=True):
    """A yaml that cannot be used as it is; what it holds is not in force."""

    section: str
    message: str


class UnknownSection(Exception):
    """There is no section of that name."""


def struct_of(section: str) -> type[Section]:
    """The section's struct.

    Raises:
        UnknownSection: There is none.
    """
    where = SECTIONS.get(section)
    if where is None:
        raise UnknownSection(section)
    module, _, name = where.partition(":")
    return cast("type[Section]", getattr(importlib.import_module(module), name))


def read_all() -> tuple[list[Setting], list[Problem]]:
    """All settings of all sections, and which files are in the way. Reads files."""
    settings: list[Setting] = []
    problems: list[Problem] = []
    for section in SECTIONS:
        found, problem = read(section)
        settings += found
        problems += [problem] if problem is not None else []
    return settings, problems


def read(section: str) -> tuple[list[Setting], Problem | None]:
    """The settings of one section.

    Raises:
        UnknownSection: There is none.
    """
    kind = struct_of(section)
    try:
        defaults, user = _files(section)
        loaded = config.load(section, kind)
        problem = None
    except ConfigError as error:
        defaults, user = config.read_yaml(config.default_file(section)), {}
        loaded = config.convert(defaults, kind, section)
        problem = Problem(section, str(error))
    env = {key: variable for variable, key, _value in config.environment(section)}
    initial = config.convert(defaults, kind, section)
    found = [_setting(section, field, loaded, initial, user, env) for field in msgspec.structs.fields(kind)]
    return [*_switch(section, found, user), *found], problem


def change(section: str, changes: dict[str, Any]) -> None:
    """Save what a user changed: only these keys, with all else in the file as it was. Writes a file.

    A dot reaches into a mapping: `policies.enabled`.

    Raises:
        UnknownSection: There is none.
        ConfigError: A value is not allowed; it names the key and what is expected. Nothing is written then.
    """
    kind = struct_of(section)
    defaults = config.read_yaml(config.default_file(section))
    target = paths.config_dir() / f"{section}.yaml"
    initial = msgspec.to_builtins(config.convert(defaults, kind, section))
    before = text = yaml_edit.read(target)
    wanted = config.merge(defaults, config.parse_yaml(text, str(target)))
    for key, value in changes.items():
        wanted = config.merge(wanted, _nested(key.split("."), value))
    config.convert(wanted, kind, target.name)
    for key, value in changes.items():
        text = _changed(text, key.split("."), value, initial, str(target))
    user = config.parse_yaml(text, str(target))
    config.convert(config.merge(defaults, user), kind, target.name)
    if text != before:
        yaml_edit.save(target, text)


def _nested(keys: list[str], value: Any) -> dict[str, Any]:
    for key in reversed(keys):
        value = {key: value}
    return value


def _changed(text: str, keys: list[str], value: Any, initial: dict[str, Any], file: str) -> str:
    """Only what differs from the default is kept, also inside a mapping."""
    default = _at(initial, keys)
    if value == default and type(value) is type(default):
        return yaml_edit.without(text, keys, file)
    if isinstance(value, dict) and isinstance(default, dict):
        value = _difference(cast("dict[str, Any]", value), cast("dict[str, Any]", default))
    return yaml_edit.changed(text, keys, value, file)


def _difference(value: dict[str, Any], default: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, one in value.items():
        old = default.get(key, _MISSING)
        if isinstance(one, dict) and isinstance(old, dict):
            inner = _difference(cast("dict[str, Any]", one), cast("dict[str, Any]", old))
            out |= {key: inner} if inner else {}
        elif one != old:
            out[key] = one
    return out


def _at(values: Any, keys: list[str]) -> Any:
    for key in keys:
        values = cast("dict[str, Any]", values).get(key, _MISSING) if isinstance(values, dict) else _MISSING
    return values


def _files(section: str) -> tuple[dict[str, Any], dict[str, Any]]:
    return config.read_yaml(config.default_file(section)), config.read_yaml(paths.config_dir() / f"{section}.yaml")


def _setting(
    section: str, field: Any, loaded: Section, initial: Section, user: dict[str, Any], env: dict[str, str]
) -> Setting:
    name = str(field.encode_name)
    about = _about(field.type)
    secret = _SECRET.search(name) is not None
    kind, choices = type_name(field.type)
    source = env.get(name) or ("user" if name in user else "default")
    return Setting(
        section=section,
        key=name,
        value=None if secret else msgspec.to_builtins(getattr(loaded, field.name)),
        default=None if secret else msgspec.to_builtins(getattr(initial, field.name)),
        source=source,
        description=about.get("description", ""),
        type=kind,
        choices=choices,
        minimum=about.get("ge"),
        above=about.get("gt"),
        maximum=about.get("le"),
        below=about.get("lt"),
        restart=section in _READ_AT_START or f"{section}.{name}" in _READ_AT_START,
    )


def _switch(section: str, found: list[Setting], user: dict[str, Any]) -> list[Setting]:
    """Of a tool's policies, the one that many want to change has a place of its own."""
    policies = next((setting for setting in found if setting.key == "policies"), None)
    if policies is None:
        return []
    own = isinstance(user.get("policies"), dict) and "enabled" in user["policies"]
    switch = Setting(
        section=section,
        key="policies.enabled",
        value=policies.value["enabled"],
        default=policies.default["enabled"],
        source="user" if own else policies.source if policies.source not in ("user", "default") else "default",
        description="Whether the model may use it.",
        type="bool",
    )
    return [switch]


def _about(annotation: Any) -> dict[str, Any]:
    """What the metas of a field say, those of a union's members too."""
    inner = get_args(annotation) if get_origin(annotation) in (Annotated, UnionType, Union) else ()
    said: dict[str, Any] = {}
    for part in inner:
        found = {key: getattr(part, key) for key in _SAID} if isinstance(part, Meta) else _about(part)
        said |= {key: value for key, value in found.items() if value is not None}
    return said


def type_name(annotation: Any) -> tuple[str, list[Any] | None]:
    """A plain word for a field's type, and the values it is chosen from, if any."""
    plain = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    if get_origin(plain) is Literal:
        return "str", list(get_args(plain))
    kind = msgspec.inspect.type_info(plain)
    if isinstance(kind, msgspec.inspect.UnionType):
        inner = [member for member in kind.types if not isinstance(member, msgspec.inspect.NoneType)]
        return f"{_word(inner[0])} or null", None
    return _word(kind), None


def _word(kind: msgspec.inspect.Type) -> str:
    words = {
        msgspec.inspect.BoolType: "bool",
        msgspec.inspect.IntType: "int",
        msgspec.inspect.FloatType: "float",
        msgspec.inspect.StrType: "str",
        msgspec.inspect.ListType: "list",
        msgspec.inspect.VarTupleType: "list",
    }
    return words.get(type(kind), "dict")
