"""May tools reach the web, and how is that switched? One decision for all tools whose yaml says `policies.web`."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from bus import config, paths
from bus.errors import ConfigError
from gateway import yaml_edit


class WebTool(Struct, frozen=True):
    """A tool that reaches the web."""

    name: str
    """Of its program and its yaml."""
    tool: str
    """As the model calls it."""
    enabled: bool


class WebAccess(Struct, frozen=True):
    """What reaches the web, as the yaml files say."""

    enabled: bool
    """Whether any of the tools does: only then may something leave this machine."""
    tools: list[WebTool]
    problems: list[str]
    """Files that cannot be used, in words: what their tools do is not known."""


def read() -> WebAccess:
    """What is on. Reads files."""
    tools: list[WebTool] = []
    problems: list[str] = []
    for section in _sections():
        try:
            found = _tool(section)
        except ConfigError as error:
            problems += [str(error)] if _reaches_web(_defaults(section)) else []
            continue
        tools += [found] if found is not None else []
    return WebAccess(any(tool.enabled for tool in tools), tools, problems)


def switch(on: bool) -> WebAccess:
    """Turn all of these tools on or off, for good. Writes files; of each, only `policies.enabled`."""
    problems: list[str] = []
    for tool in read().tools:
        if tool.enabled != on:
            try:
                yaml_edit.set_key(paths.config_dir() / f"{tool.name}.yaml", ("policies", "enabled"), on)
            except ConfigError as error:
                problems.append(str(error))
    now = read()
    overruled = [_overruled(tool) for tool in now.tools if tool.enabled != on and not problems]
    return WebAccess(now.enabled, now.tools, [*now.problems, *problems, *overruled])


def _sections() -> list[str]:
    folders = (paths.defaults_dir() / "config", paths.participants_dir(), paths.config_dir())
    return sorted({file.stem for folder in folders for file in folder.glob("*.yaml")})


def _tool(section: str) -> WebTool | None:
    merged: dict[str, Any] = {}
    for _source, values in config.layers(section):
        merged = config.merge(merged, values)
    if not _reaches_web(merged):
        return None
    return WebTool(section, str(merged.get("tool", section)), merged["policies"].get("enabled") is not False)


def _reaches_web(values: dict[str, Any]) -> bool:
    policies = values.get("policies")
    return isinstance(policies, dict) and policies.get("web") is True


def _defaults(section: str) -> dict[str, Any]:
    """What the tool came with; where that is broken, it may well be one that reaches the web."""
    try:
        return config.read_yaml(config.default_file(section))
    except ConfigError:
        return {"policies": {"web": True}}


def _overruled(tool: WebTool) -> str:
    word = "on" if tool.enabled else "off"
    return f"{tool.name} stays {word}: the variable LOCAL2_{tool.name.upper()}__POLICIES says so"
