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


def set_key(target: Path, keys: Sequence[str], value: Any) -> None:
    """Set `keys[0]: {keys[1]: … value}` in a file, which need not exist yet.

    Raises:
        ConfigError: The file cannot be read or written, or something else stands where a mapping is needed.
    """
    save(target, changed(read(target), keys, value, str(target)))


def read(target: Path) -> str:
    """The file's text; empty where there is none.

    Raises:
        ConfigError: It cannot be read.
    """
    try:
        return target.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(str(target), "", f"cannot be read: {error}") from error


def changed(text: str, keys: Sequence[str], value: Any, file: str = "") -> str:
    """The text with that key set. A layout that cannot be kept (anchors, several documents) is written anew.

    Raises:
        ConfigError: See `set_key`; it names `file`.
    """
    wanted = _with(config.parse_yaml(text, file), keys, value, file)
    attempts = [_edited(text, keys, written) for written in _written(value)]
    return _first_that_means(wanted, attempts, file)


def without(text: str, keys: Sequence[str], file: str = "") -> str:
    """The text without that key, and without a mapping that it leaves empty. See `changed`.

    Raises:
        ConfigError: It is no yaml; it names `file`.
    """
    values = config.parse_yaml(text, file)
    wanted = _less(values, keys)
    while len(keys) > 1 and not _has(wanted, keys[:-1]):
        keys = keys[:-1]
    return text if wanted == values else _first_that_means(wanted, [_cut(text, keys)], file)


def _first_that_means(wanted: dict[str, Any], attempts: Sequence[str], file: str) -> str:
    for text in attempts:
        try:
            if config.parse_yaml(text, "") == wanted:
                yaml.compose(text, yaml.SafeLoader)  # or the next change could not find its place
                return text
        except (ConfigError, RecursionError):
            continue
    return _anew(wanted, file) if wanted else ""


def _anew(values: dict[str, Any], file: str) -> str:
    """Yaml that reads back as the same: what stands unescaped there may be taken for a line's end."""
    try:
        text = yaml.safe_dump(values, allow_unicode=True, sort_keys=False)
        same = config.parse_yaml(text, file) == values
        return text if same else yaml.safe_dump(values, allow_unicode=False, sort_keys=False)
    except RecursionError as error:
        raise ConfigError(file, "", "something is nested too deep") from error


def _with(values: dict[str, Any], keys: Sequence[str], value: Any, file: str, above: str = "") -> dict[str, Any]:
    """New mappings on the way down: an alias may share the old ones with another key."""
    key, *below = keys
    if not below:
        return {**values, key: value}
    inner = values.get(key)
    if not isinstance(inner, dict | None):
        raise ConfigError(file, above + key, "expected `key: value` lines below it")
    return {**values, key: _with(cast("dict[str, Any]", inner or {}), below, value, file, f"{above}{key}.")}


def _less(values: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    key, *below = keys
    kept = {name: value for name, value in values.items() if name != key}
    inner = values.get(key)
    if not below or not isinstance(inner, dict):
        return values if below else kept
    left = _less(cast("dict[str, Any]", inner), below)
    return {name: left if name == key else value for name, value in values.items()} if left else kept


def _has(values: Any, keys: Sequence[str]) -> bool:
    for key in keys:
        if not isinstance(values, dict) or key not in values:
            return False
        values = cast("dict[str, Any]", values)[key]
    return True


def _written(value: Any) -> list[str]:
    """Ways to write a value, the most readable first."""
    try:
        plain = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return []
    if isinstance(value, str) and "\n" in value:
        mark = "|" if value.endswith("\n") else "|-"
        lines = value.removesuffix("\n").split("\n")
        return ["\n".join([mark, *(f"  {line}".rstrip() for line in lines)]), plain]
    if isinstance(value, float):
        return [yaml.safe_dump(value).partition("\n")[0]]  # JSON's 1e-05 is text to yaml
    return [plain]


# ---------------------------------------------------------------------------- places in a text


def _edited(text: str, keys: Sequence[str], value: str) -> str:
    node = _composed(text)
    if node is None:
        return _ended(text) + _block(keys, value, 0)
    for depth, key in enumerate(keys):
        found = _find(node, key)
        if found is None:
            return _inserted(text, node, keys[depth:], value)
        name, inner = found
        if depth == len(keys) - 1:
            return _replaced(text, name, inner, value)
        if not isinstance(inner, yaml.MappingNode) or not inner.value:
            return text
        node = inner
    return text


def _composed(text: str) -> yaml.MappingNode | None:
    try:
        node = yaml.compose(text, yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return None
    return node if isinstance(node, yaml.MappingNode) and node.value else None


def _find(node: yaml.MappingNode, key: str) -> tuple[yaml.Node, yaml.Node] | None:
    return next(((name, inner) for name, inner in node.value if name.value == key), None)


def _replaced(text: str, name: yaml.Node, old: yaml.Node, value: str) -> str:
    """A block list may begin in its key's own column, where nothing else may."""
    start = old.start_mark.index
    gap = "" if old.start_mark.line == name.start_mark.line or old.start_mark.column > name.start_mark.column else "  "
    if start == name.end_mark.index + 1:  # `key:` without a value
        gap = " "
    return text[:start] + gap + value + text[_end(text, old) :]


def _end(text: str, node: yaml.Node) -> int:
    """Where a value ends: a block's own mark is only where the next thing begins, behind comments."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(text, last[1] if isinstance(last, tuple) else last)
    end = node.end_mark.index
    block = isinstance(node, yaml.ScalarNode) and node.style in ("|", ">")
    return len(text[:end].rstrip()) if block else end


def _cut(text: str, keys: Sequence[str]) -> str:
    """Whole lines, from the key to its value's end; what shares a line with others is left to the caller."""
    node = _composed(text)
    for depth, key in enumerate(keys):
        found = _find(node, key) if node is not None and not node.flow_style else None
        if found is None:
            return text
        name, inner = found
        if depth == len(keys) - 1:
            start = text.rfind("\n", 0, name.start_mark.index) + 1
            end = text.find("\n", _end(text, inner))
            return text[:start] + ("" if end < 0 else text[end + 1 :])
        node = inner if isinstance(inner, yaml.MappingNode) else None
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
