"""How is one key of a user's yaml changed, with all else in the file, comments too, as it was?"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import yaml

from bus import config, paths
from bus.errors import ConfigError


def set_key(target: Path, keys: Sequence[str], value: bool | int | str) -> None:
    """Set `keys[0]: {keys[1]: … value}` in a file, which need not exist yet.

    Raises:
        ConfigError: The file cannot be read or written, or something else stands where a mapping is needed.
    """
    try:
        text = target.read_text(encoding="utf-8")
    except FileNotFoundError:
        text = ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(str(target), "", f"cannot be read: {error}") from error
    save(target, changed(text, keys, value, str(target)))


def changed(text: str, keys: Sequence[str], value: bool | int | str, file: str = "") -> str:
    """The text with that key set. A layout that cannot be kept (anchors, several documents) is written anew.

    Raises:
        ConfigError: See `set_key`; it names `file`.
    """
    wanted = _with(config.parse_yaml(text, file), keys, value, file)
    try:
        edited = _edited(text, keys, json.dumps(value, ensure_ascii=False))
        if config.parse_yaml(edited, file) == wanted:
            return edited
    except (ConfigError, yaml.YAMLError, RecursionError):
        pass
    return yaml.safe_dump(wanted, allow_unicode=True, sort_keys=False)


def _with(values: dict[str, Any], keys: Sequence[str], value: Any, file: str, above: str = "") -> dict[str, Any]:
    """New mappings on the way down: an alias may share the old ones with another key."""
    key, *below = keys
    if not below:
        return {**values, key: value}
    inner = values.get(key)
    if not isinstance(inner, dict | None):
        raise ConfigError(file, above + key, "expected `key: value` lines below it")
    return {**values, key: _with(cast("dict[str, Any]", inner or {}), below, value, file, f"{above}{key}.")}


def _edited(text: str, keys: Sequence[str], value: str) -> str:
    node = yaml.compose(text, yaml.SafeLoader)
    if not isinstance(node, yaml.MappingNode) or not node.value:
        return _ended(text) + _block(keys, value, 0)
    for depth, key in enumerate(keys):
        found = next((inner for name, inner in node.value if name.value == key), None)
        if found is None:
            return _inserted(text, node, keys[depth:], value)
        if depth == len(keys) - 1:
            return text[: found.start_mark.index] + value + text[found.end_mark.index :]
        if not isinstance(found, yaml.MappingNode) or not found.value:
            return text
        node = found
    return text


def _inserted(text: str, node: yaml.MappingNode, keys: Sequence[str], value: str) -> str:
    """At the end of the file for a key at the top, else before the first one of its mapping."""
    at, column = node.start_mark.index, node.start_mark.column
    if node.flow_style:
        inner = "".join(f"{key}: {{" for key in keys[:-1]) + f"{keys[-1]}: {value}" + "}" * (len(keys) - 1)
        return f"{text[: at + 1]}{inner}, {text[at + 1 :]}"
    if column == 0:
        return _ended(text) + _block(keys, value, 0)
    return text[:at] + _block(keys, value, column).lstrip() + " " * column + text[at:]


def _block(keys: Sequence[str], value: str, column: int) -> str:
    lines = [" " * (column + 2 * depth) + f"{key}:" for depth, key in enumerate(keys)]
    return "\n".join(lines) + f" {value}\n"


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def save(target: Path, text: str) -> None:
    """Write a file whole or not at all, readable by the user alone.

    Raises:
        ConfigError: It cannot be written.
    """
    paths.private(target.parent)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except OSError as error:
        raise ConfigError(str(target), "", f"cannot be written: {error.strerror}") from error
