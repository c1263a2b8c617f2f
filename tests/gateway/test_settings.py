"""All settings, where they come from, and how one is changed."""

from __future__ import annotations

import stat
import subprocess
import sys
from typing import Annotated, Any

import pytest
import yaml
from msgspec import Meta

from bus import paths
from bus.config import Section
from bus.errors import ConfigError
from bus.messages.control import ConfigReload
from gateway import settings

HEAVY = ("chromadb", "fastapi", "httpx", "llama_cpp", "numpy", "ollama", "onnxruntime", "tokenizers", "xllamacpp")


def nested(depth: int) -> dict[str, Any]:
    """Mappings within mappings."""
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("LOCAL2_HOME", str(tmp_path / "home"))


def one(section: str, key: str) -> settings.Setting:
    found, _problem = settings.read(section)
    return next(setting for setting in found if setting.key == key)


def user_file(section: str):
    return paths.config_dir() / f"{section}.yaml"


def test_every_yaml_has_a_section_and_a_struct():
    names = {path.stem for path in (paths.defaults_dir() / "config").glob("*.yaml")}
    assert names == set(settings.SECTIONS)
    found, problems = settings.read_all()
    assert {setting.section for setting in found} == names
    assert problems == []


def test_every_setting_is_described():
    found, _problems = settings.read_all()
    assert [f"{s.section}.{s.key}" for s in found if not s.description] == []


def test_reading_them_brings_no_heavy_library():
    script = (
        "import sys; from gateway import settings; settings.read_all(); "
        f"sys.exit(' '.join(name for name in {HEAVY} if name in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_value_and_its_source(monkeypatch):
    default = one("generator", "num_ctx")
    settings.change("generator", {"num_ctx": 4096})
    user = one("generator", "num_ctx")
    monkeypatch.setenv("LOCAL2_GENERATOR__NUM_CTX", "2048")
    env = one("generator", "num_ctx")
    assert [(s.value, s.default, s.source) for s in (default, user, env)] == [
        (8192, 8192, "default"),
        (4096, 8192, "user"),
        (2048, 8192, "LOCAL2_GENERATOR__NUM_CTX"),
    ]
    assert (default.type, default.minimum) == ("int", 512)


@pytest.mark.parametrize(
    ("section", "key", "bounds"),
    [
        ("system", "heartbeat_s", (0.01, None, None, None)),
        ("system", "drain_s", (None, 0, None, None)),
        ("generator", "retries", (0, None, 5, None)),
        ("generator", "temperature", (0, None, 2, None)),
        ("generator", "seed", (None, None, None, None)),
    ],
)
def test_bounds(section, key, bounds):
    found = one(section, key)
    assert (found.minimum, found.above, found.maximum, found.below) == bounds


def test_what_a_restart_needs():
    found, _problems = settings.read_all()
    assert {s.section for s in found if s.restart} == {"system", "bus", "gateway"}
    assert {s.key for s in found if s.restart and s.section == "gateway"} == {"host", "port"}


@pytest.mark.parametrize("value", [-0.1, 2.1, "hot"])
def test_a_temperature_that_no_model_takes_is_refused(value):
    with pytest.raises(ConfigError, match="temperature"):
        settings.change("generator", {"temperature": value})
    assert not user_file("generator").exists()


def test_choices_and_types():
    assert one("system", "log_level").choices == ["debug", "info", "warning", "error"]
    assert one("generator", "think").type == "bool"
    assert one("generator", "seed").type == "int or null"
    assert one("gateway", "allowed_origins").type == "list"
    assert one("datetime", "policies").type == "dict"


def test_only_what_differs_is_kept_and_only_for_the_user():
    settings.change("generator", {"num_ctx": 4096, "think": True})
    path = user_file("generator")
    assert yaml.safe_load(path.read_text()) == {"num_ctx": 4096}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    settings.change("generator", {"num_ctx": 8192})
    assert path.read_text() == ""
    assert [entry.name for entry in path.parent.iterdir()] == ["generator.yaml"]


def test_the_rest_of_the_users_file_stays_as_it_was():
    paths.private(paths.config_dir())
    path = user_file("generator")
    path.write_text("# mine\nseed: 7  # a lucky one\n# next\nsystem_prompt: |\n  Be kind.\n  Be brief.\n")
    settings.change("generator", {"num_ctx": 4096})
    assert path.read_text().endswith("  Be brief.\nnum_ctx: 4096\n")
    settings.change("generator", {"seed": None})
    assert path.read_text() == "# mine\n# next\nsystem_prompt: |\n  Be kind.\n  Be brief.\nnum_ctx: 4096\n"
    settings.change("generator", {"system_prompt": "Be kind.\n\nBe brief, too."})
    assert one("generator", "system_prompt").value == "Be kind.\n\nBe brief, too."
    assert path.read_text().startswith("# mine\n# next\nsystem_prompt: |-\n  Be kind.\n")


def test_a_tool_has_a_switch_and_of_a_mapping_only_what_differs_is_kept():
    assert one("datetime", "policies.enabled").value is True
    settings.change("datetime", {"policies.enabled": False})
    assert yaml.safe_load(user_file("datetime").read_text()) == {"policies": {"enabled": False}}
    switch = one("datetime", "policies.enabled")
    assert (switch.value, switch.default, switch.source) == (False, True, "user")
    usual = one("datetime", "policies").default["timeout_s"]
    policies = {**one("datetime", "policies").value, "timeout_s": 3.5}
    settings.change("datetime", {"policies": policies})
    assert yaml.safe_load(user_file("datetime").read_text()) == {"policies": {"enabled": False, "timeout_s": 3.5}}
    settings.change("datetime", {"policies.enabled": True, "policies.timeout_s": usual})
    assert user_file("datetime").read_text() == ""


@pytest.mark.parametrize(
    ("section", "changes", "words"),
    [
        ("generator", {"num_ctx": 3}, "num_ctx: Expected `int` >= 512"),
        ("generator", {"num_ctx": "8192"}, "num_ctx: Expected `int`, got `str`"),
        ("generator", {"unheard_of": 1}, "unheard_of"),
        ("gateway", {"host": "0.0.0.0"}, "host: only this machine is served yet"),  # noqa: S104  what is refused
        ("gateway", {"allowed_origins": ["evil.example"]}, "allowed_origins: expected such as"),
        ("system", {"log_level": "loud"}, "log_level"),
        ("generator", {"num_ctx.deep": 1}, "num_ctx: Expected `int`, got `object`"),
        ("generator", {"": 1}, "unknown field"),
        ("datetime", {"policies.unheard_of": 1}, "unheard_of"),
        ("datetime", {"policies.enabled": "no"}, "policies.enabled: Expected `bool`"),
        ("system", {"id": "half \ud83d"}, "id: Expected text without halves"),
        ("bus", {"high_water_mark": 2**40}, "high_water_mark: Expected `int` <= 2147483647"),
        ("generator", {"temperature": float("nan")}, "temperature: Expected `float`"),
        ("system", {"drain_s": float("inf")}, "drain_s: Expected a finite number"),
        ("generator", {"seed": 2**70}, "seed: Expected a whole number of at most"),
        ("datetime", {"parameters": nested(500)}, "nested too deep"),
        ("system", {"heartbeat_s": 1e-9}, "heartbeat_s: Expected `float` >= 0.01"),
    ],
)
def test_a_wrong_value_is_refused_with_words_and_nothing_is_written(section, changes, words):
    with pytest.raises(ConfigError, match=words.replace("(", r"\(")):
        settings.change(section, changes)
    assert not user_file(section).exists()


@pytest.mark.parametrize("text", ["\x85", "a\u2028b", "\0", "\ufeff", "x: [\n- y", "null", "  ", "%(ENV_HOME)s"])
def test_any_text_that_is_accepted_reads_back_as_it_was(text):
    settings.change("generator", {"system_prompt": text})
    assert settings.read("generator")[1] is None
    assert one("generator", "system_prompt").value == text


def test_a_broken_file_is_a_problem_and_hides_nothing():
    paths.private(paths.config_dir())
    user_file("generator").write_text("num_ctx: [")
    found, problem = settings.read("generator")
    assert problem is not None
    assert "generator.yaml" in problem.message
    assert one("generator", "num_ctx").value == 8192
    assert len(found) > 5


class Secretive(Section, frozen=True, kw_only=True):
    """A section with a secret."""

    api_key: Annotated[str, Meta(description="A key.")] = "hidden"
    answer_tokens: Annotated[int, Meta(description="No secret.")] = 7


def test_a_secret_is_never_shown(monkeypatch):
    monkeypatch.setattr(settings, "SECTIONS", {"secretive": "unused"})
    monkeypatch.setattr(settings, "struct_of", lambda _section: Secretive)
    monkeypatch.setenv("LOCAL2_SECRETIVE__API_KEY", "hidden too")
    key, tokens = one("secretive", "api_key"), one("secretive", "answer_tokens")
    assert (key.value, key.default, key.source) == (None, None, "LOCAL2_SECRETIVE__API_KEY")
    assert (tokens.value, tokens.default) == (7, 7)


# ------------------------------------------------------------------ over REST


async def test_all_of_them(stage):
    answer = (await stage.http("GET", "/api/settings")).json()
    assert {setting["section"] for setting in answer["settings"]} == set(settings.SECTIONS)
    assert answer["problems"] == []


async def test_a_change_is_saved_and_told(stage):
    told = []
    stage.generator.bus.on(ConfigReload, lambda message, _envelope: told.append(message.section))
    answer = await stage.http("PATCH", "/api/settings/generator", json={"num_ctx": 4096})
    await (await stage.connect()).pong()
    values = {setting["key"]: setting["value"] for setting in answer.json()["settings"]}
    assert (answer.status_code, values["num_ctx"], told) == (200, 4096, ["generator"])


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("generator", {"num_ctx": 3}, 422, "num_ctx: Expected `int` >= 512"),
        ("unheard-of", {"a": 1}, 404, "There is no section 'unheard-of'."),
    ],
)
async def test_a_wrong_change_gets_words(stage, path, body, status, words):
    answer = await stage.http("PATCH", f"/api/settings/{path}", json=body)
    assert answer.status_code == status
    assert answer.json()["error"]["message"].endswith(words)


async def test_a_body_that_is_no_object_gets_words(stage):
    answer = await stage.http("PATCH", "/api/settings/generator", json=[1])
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid")
