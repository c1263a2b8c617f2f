"""Yaml: layers, precedence, and words for whatever is wrong in it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest
from msgspec import Meta, Struct

from bus import config
from bus.config import UNSET_ID, BusConfig, Section, SystemConfig
from bus.errors import ConfigError


class Inner(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A nested mapping."""

    size: int = 1
    colour: str = "red"


class Label(Struct, frozen=True, kw_only=True):
    """A part that stands in messages, too, where an unknown field passes."""

    text: str = ""
    extra: dict[str, Any] = {}


class Shop(Section, frozen=True, kw_only=True):
    """A section for these tests."""

    rate: Annotated[float, Meta(gt=0)] = 1.0
    names: list[str] = []
    inner: Inner = Inner()
    open: bool = False
    labels: list[Label] = []


class Folders:
    """The folder of the defaults and the user's."""

    def __init__(self, root: Path) -> None:
        self.defaults, self.user = root / "defaults" / "config", root / "home" / "config"
        self.defaults.mkdir(parents=True)
        self.user.mkdir(parents=True)

    def default(self, text: str) -> None:
        (self.defaults / "shop.yaml").write_text(text, encoding="utf-8")

    def changed(self, text: str) -> Path:
        path = self.user / "shop.yaml"
        path.write_text(text, encoding="utf-8")
        return path


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folders:
    monkeypatch.setenv("LOCAL2_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("bus.paths.defaults_dir", lambda: tmp_path / "defaults")
    return Folders(tmp_path)


def load() -> Shop:
    return config.load("shop", Shop)


def test_each_layer_wins_over_the_one_below(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    folders.default("id: shop\nrate: 2\nnames: [a]\ninner: {size: 2, colour: blue}\n")
    assert load() == Shop(id="shop", rate=2.0, names=["a"], inner=Inner(size=2, colour="blue"))
    folders.changed("rate: 3\nnames: [b]\ninner: {size: 3}\n")
    assert load() == Shop(id="shop", rate=3.0, names=["b"], inner=Inner(size=3, colour="blue"))
    monkeypatch.setenv("LOCAL2_SHOP__RATE", "4")
    monkeypatch.setenv("LOCAL2_SHOP__NAMES", "[c, d]")
    monkeypatch.setenv("LOCAL2_SHOP__OPEN", "true")
    assert load() == Shop(id="shop", rate=4.0, names=["c", "d"], inner=Inner(size=3, colour="blue"), open=True)


def test_a_dropped_in_participant_has_its_defaults_beside_it(folders: Folders, tmp_path: Path) -> None:
    dropped = tmp_path / "home" / "participants"
    dropped.mkdir()
    (dropped / "shop.yaml").write_text("rate: 5\nnames: [dropped]\n")
    folders.changed("names: [mine]\n")
    assert load() == Shop(rate=5.0, names=["mine"])
    folders.default("rate: 2\n")
    assert load() == Shop(rate=2.0, names=["mine"]), "what LoCAL2 comes with is not replaced"


def test_a_mapping_of_the_users_own_keys_is_taken_as_it_is(folders: Folders) -> None:
    folders.changed("labels: [{extra: {any: [{key: 1}]}}]\n")
    assert load().labels == [Label(extra={"any": [{"key": 1}]})]


def test_an_empty_variable_and_those_of_others_count_for_nothing(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL2_SHOP__RATE", "")
    monkeypatch.setenv("LOCAL2_SHOPPING__RATE", "9")
    monkeypatch.setenv("LOCAL2_SHOP_RATE", "9")
    assert load().rate == 1.0


@pytest.mark.parametrize("text", ["", "# only a comment\n", "rate: 2\n"])
def test_a_missing_id_is_no_failure(folders: Folders, text: str) -> None:
    folders.changed(text)
    assert load().id == UNSET_ID == "[set id in yaml]"


def test_no_file_at_all_gives_the_defaults(folders: Folders) -> None:
    assert load() == Shop()


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("rate: fast\n", "rate", "Expected `float`, got `str`"),
        ("rate: 0\n", "rate", "> 0"),
        ("open: 1\n", "open", "Expected `bool`, got `int`"),
        ("names: a\n", "names", "Expected `array`, got `str`"),
        ("names: [a, 1]\n", "names[1]", "Expected `str`, got `int`"),
        ("inner: {size: big}\n", "inner.size", "Expected `int`, got `str`"),
        ("inner: {weight: 1}\n", "inner", "unknown field `weight`"),
        ("labels: [{text: a}, {txet: b}]\n", "labels[1]", "unknown field `txet`"),
        ("colour: red\n", "", "unknown field `colour`"),
        ("id: 7\n", "id", "Expected `str`, got `int`"),
        ("rate: null\n", "rate", "Expected `float`, got `null`"),
        ("rate: .inf\n", "rate", "finite"),
        ("inner: {size: 9007199254740993}\n", "inner.size", "at most 9007199254740992"),
        ("labels: [{extra: {a: [.nan]}}]\n", "labels[0].extra.a[0]", "finite"),
        ("labels: [{extra: &x {a: *x}}]\n", "", "refers to itself"),
    ],
)
def test_a_wrong_value_names_file_key_and_what_is_expected(folders: Folders, text: str, key: str, words: str) -> None:
    path = folders.changed(text)
    with pytest.raises(ConfigError) as caught:
        load()
    assert (caught.value.file, caught.value.key) == (str(path), key)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id: a\nrate: [1,\n", "line 3"),
        ("id: a\n\trate: 1\n", "line 2"),
        ("id: a\nrate: 'x\n", "line"),
        ("id: &a [*a, *b]\n", "line 1"),
        ("- a\n- b\n", "key: value"),
        ("just text\n", "key: value"),
        ("1: a\n", "key: value"),
        ("id: !!python/object/apply:os.getcwd []\n", "line 1"),
        ("[" * 5000, ""),
        ("a: 2026-99-99\n", "month"),
        ("{[a]: b}\n", "line 1"),
    ],
)
def test_what_is_no_usable_yaml_is_said(folders: Folders, text: str, words: str) -> None:
    path = folders.changed(text)
    with pytest.raises(ConfigError) as caught:
        load()
    assert caught.value.file == str(path)
    assert words in str(caught.value)


def test_bytes_that_are_no_text_are_said(folders: Folders) -> None:
    folders.changed("").write_bytes(b"id: \xff\xfe\n")
    with pytest.raises(ConfigError, match="cannot be read"):
        load()


def test_a_folder_in_place_of_the_file_is_said(folders: Folders) -> None:
    (folders.user / "shop.yaml").mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        load()


@pytest.mark.parametrize(("value", "words"), [("fast", "Expected `float`"), ("[1", "line"), ("a: b: c", "")])
def test_a_wrong_variable_is_named(folders: Folders, monkeypatch: pytest.MonkeyPatch, value: str, words: str) -> None:
    monkeypatch.setenv("LOCAL2_SHOP__RATE", value)
    with pytest.raises(ConfigError, match="LOCAL2_SHOP__RATE") as caught:
        load()
    assert words in str(caught.value)


def test_an_unknown_variable_is_named(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL2_SHOP__COLOUR", "red")
    with pytest.raises(ConfigError, match=r"LOCAL2_SHOP__COLOUR.*unknown field `colour`"):
        load()


@pytest.mark.parametrize(
    ("base", "over", "merged"),
    [
        ({}, {"a": 1}, {"a": 1}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}}, {"a": {"b": 1, "c": 3}}),
        ({"a": {"b": 1}}, {"a": 2}, {"a": 2}),
        ({"a": 2}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": 1}, {"a": None}, {"a": None}),
    ],
)
def test_merging(base: dict[str, Any], over: dict[str, Any], merged: dict[str, Any]) -> None:
    assert config.merge(base, over) == merged


@pytest.mark.parametrize(("section", "kind"), [("bus", BusConfig), ("system", SystemConfig)])
def test_the_defaults_in_the_checkout_fit_and_are_those_of_the_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, section: str, kind: type[Section]
) -> None:
    monkeypatch.setenv("LOCAL2_HOME", str(tmp_path))
    assert config.load(section, kind) == kind(id=section)


def test_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL2_HOME", "/h")
    assert BusConfig().publish_to() == "ipc:///h/run/bus-in.sock"
    assert BusConfig().subscribe_to() == "ipc:///h/run/bus-out.sock"
    assert BusConfig(transport="tcp").publish_to() == "tcp://127.0.0.1:7811"
    assert BusConfig(transport="tcp", subscribe_port=1).subscribe_to() == "tcp://127.0.0.1:1"
