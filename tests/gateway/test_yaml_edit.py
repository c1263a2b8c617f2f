"""One key of a user's yaml is changed; everything else in the file stays as it was written."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
import yaml

from bus.errors import ConfigError
from gateway.yaml_edit import changed, set_key, without

KEYS = ("policies", "enabled")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "policies:\n  enabled: true\n"),
        ("# mine\n", "# mine\npolicies:\n  enabled: true\n"),
        ("url: x  # why", "url: x  # why\npolicies:\n  enabled: true\n"),
        ("policies:\n  enabled: false  # why\nurl: x\n", "policies:\n  enabled: true  # why\nurl: x\n"),
        ("policies:\n    web: true # w\nurl: x\n", "policies:\n    enabled: true\n    web: true # w\nurl: x\n"),
        ("policies: {web: true}  # w\n", "policies: {enabled: true, web: true}  # w\n"),
        ("{url: x}\n", "{policies: {enabled: true}, url: x}\n"),
        ("ünï: ü\npolicies: {enabled: no}\n", "ünï: ü\npolicies: {enabled: true}\n"),
        ("'policies':\n  \"enabled\": off\n", "'policies':\n  \"enabled\": true\n"),
    ],
)
def test_all_else_stays(before: str, after: str) -> None:
    assert changed(before, KEYS, True) == after


@pytest.mark.parametrize(
    "before",
    [
        "policies:\nurl: x\n",
        "policies: {}\nurl: x\n",
        "a: &p {web: true}\npolicies: *p\nurl: x\n",
        "policies: {<<: {web: true}}\nurl: x\n",
        "---\nurl: x\n...\n",
        "? policies\n: enabled: false\n",
        "policies: {enabled: false}\npolicies: {web: true}\n",
    ],
)
def test_odd_layouts_keep_their_values(before: str) -> None:
    wanted = yaml.safe_load(before)
    wanted["policies"] = {**(wanted.get("policies") or {}), "enabled": True}
    assert yaml.safe_load(changed(before, KEYS, True)) == wanted


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("a: 1 # w\n# two\nb: 2\n", 5, "a: 5 # w\n# two\nb: 2\n"),
        ("a:\n  - x\n  - y # w\n\n# two\nb: 2\n", ["z"], 'a:\n  ["z"] # w\n\n# two\nb: 2\n'),
        ("a:\n- x\n# two\nb: 2\n", ["z"], 'a:\n  ["z"]\n# two\nb: 2\n'),
        ("a: |\n  x\n  y\n\n# two\nb: 2\n", "z", 'a: "z"\n\n# two\nb: 2\n'),
        ("# one\na: x\n# two\n", "p\n\nq", "# one\na: |-\n  p\n\n  q\n# two\n"),
        ("a: x # w\n", "p\nq", 'a: "p\\nq" # w\n'),
        ("a:\n  k: {l: 1}\n  m: 2\n# two\nb: 2\n", {"n": 1}, 'a:\n  {"n": 1}\n# two\nb: 2\n'),
        ("a:\nb: 2\n", None, "a: null\nb: 2\n"),
        ("a: 1\n", 0.00001, "a: 1.0e-05\n"),
        ("b: 2", "p\nq\n", "b: 2\na: |\n  p\n  q\n"),
    ],
)
def test_comments_outlive_any_value(before: str, value: object, after: str) -> None:
    assert changed(before, ("a",), value) == after


@pytest.mark.parametrize(
    ("before", "keys", "after"),
    [
        ("a: 1 # w\n# two\nb: 2\n", ("a",), "# two\nb: 2\n"),
        ("# one\na:\n  - x\n# two\n", ("a",), "# one\n# two\n"),
        ("b: 2\na: |\n  x\n  y", ("a",), "b: 2\n"),
        ("p:\n  q: 1\n  # why\n  r: 2\n", ("p", "r"), "p:\n  q: 1\n  # why\n"),
        ("# one\np:\n  q: 1\nb: 2\n", ("p", "q"), "# one\nb: 2\n"),
        ("p: {q: 1}\n", ("p", "q"), ""),
        ("{a: 1, b: 2}\n", ("a",), "b: 2\n"),
        ("# one\nb: 2\n", ("a",), "# one\nb: 2\n"),
        ("a: 5\n", ("a", "q"), "a: 5\n"),
        ("", ("a",), ""),
    ],
)
def test_a_key_goes_alone(before: str, keys: tuple[str, ...], after: str) -> None:
    assert without(before, keys) == after


@pytest.mark.parametrize("value", ["http://127.0.0.1:7880", 'a "b" #c: d', "", 5, False])
def test_values_come_back(value: str | int | bool) -> None:
    assert yaml.safe_load(changed("a: 1\nurl: old\n", ("url",), value)) == {"a": 1, "url": value}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("policies: 5\n", "mine.yaml: policies: expected `key: value` lines below it"),
        ("policies: [", "mine.yaml: line"),
        ("- a\n", "mine.yaml: expected `key: value` lines at the top"),
        ("a: " + "[" * 5000, "mine.yaml"),
    ],
)
def test_what_cannot_be_changed_gets_words(text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        changed(text, KEYS, True, "mine.yaml")
    assert str(caught.value).startswith(words)


def test_files(tmp_path: Path) -> None:
    target = tmp_path / "config" / "web_search.yaml"
    set_key(target, KEYS, True)
    set_key(target, ("url",), "x")
    assert yaml.safe_load(target.read_text()) == {"policies": {"enabled": True}, "url": "x"}
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    target.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="cannot be read"):
        set_key(target, KEYS, True)
