"""Whether tools may reach the web is one decision, however many tools there are."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from bus.messages.control import ConfigReload
from gateway import web_access
from gateway.cli.run import run
from gateway.stack.errors import ExitCode

WEB = "tool: {tool}\ndescription: x\nparameters: {{type: object}}\npolicies: {{web: true, enabled: false}}\n"


class Files:
    """The yaml files that LoCAL2 comes with, those dropped in, and the user's."""

    def __init__(self, root: Path) -> None:
        self.defaults, home = root / "defaults" / "config", root / "home"
        self.dropped, self.user = home / "participants", home / "config"
        for folder in (self.defaults, self.dropped, self.user):
            folder.mkdir(parents=True)
        (self.defaults / "search.yaml").write_text(WEB.format(tool="web_search"))
        (self.defaults / "clock.yaml").write_text("tool: get_time\npolicies: {idempotent: true}\n")
        (self.defaults / "bus.yaml").write_text("transport: ipc\n")
        (self.dropped / "mine.yaml").write_text(WEB.format(tool="my_tool"))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    monkeypatch.setenv("LOCAL2_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("bus.paths.defaults_dir", lambda: tmp_path / "defaults")
    return Files(tmp_path)


def _states(access: web_access.WebAccess) -> dict[str, bool]:
    return {tool.name: tool.enabled for tool in access.tools}


def test_it_is_off_at_first(files: Files) -> None:
    access = web_access.read()
    assert (access.enabled, _states(access), access.problems) == (False, {"search": False, "mine": False}, [])
    assert [tool.tool for tool in access.tools] == ["my_tool", "web_search"]


def test_on_and_off_touch_one_key(files: Files) -> None:
    (files.user / "search.yaml").write_text("url: http://x  # mine\n")
    on = web_access.switch(True)
    assert (on.enabled, _states(on)) == (True, {"search": True, "mine": True})
    assert (files.user / "search.yaml").read_text() == "url: http://x  # mine\npolicies:\n  enabled: true\n"
    assert yaml.safe_load((files.user / "mine.yaml").read_text()) == {"policies": {"enabled": True}}
    off = web_access.switch(False)
    assert (off.enabled, _states(off)) == (False, {"search": False, "mine": False})
    assert sorted(file.name for file in files.user.iterdir()) == ["mine.yaml", "search.yaml"]


def test_what_is_as_wanted_is_not_written(files: Files) -> None:
    web_access.switch(False)
    assert list(files.user.iterdir()) == []


def test_one_that_is_on_means_that_something_may_leave(files: Files) -> None:
    (files.user / "mine.yaml").write_text("policies: {enabled: true}\n")
    assert web_access.read().enabled
    assert not web_access.switch(False).enabled


def test_one_that_says_nothing_of_enabled_is_on(files: Files) -> None:
    (files.dropped / "mine.yaml").write_text("tool: my_tool\npolicies: {web: true}\n")
    assert web_access.read().enabled
    assert not web_access.switch(False).enabled


@pytest.mark.parametrize("text", ["url: [", "- a\n", "policies: {enabled: [\n"])
def test_a_broken_file_is_said_and_keeps_the_others_from_nothing(files: Files, text: str) -> None:
    (files.user / "search.yaml").write_text(text)
    (files.user / "clock.yaml").write_text(text)
    access = web_access.switch(True)
    assert _states(access) == {"mine": True}
    assert [str(files.user / "search.yaml") in problem for problem in access.problems] == [True]
    assert (files.user / "search.yaml").read_text() == text


def test_policies_that_are_no_mapping(files: Files) -> None:
    (files.dropped / "odd.yaml").write_text("tool: odd\npolicies: 5\n")
    assert "odd" not in _states(web_access.read())


def test_a_variable_over_the_files_is_said(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL2_SEARCH__POLICIES", "{web: true, enabled: true}")
    access = web_access.switch(False)
    assert access.enabled
    assert access.problems == ["search stays on: the variable LOCAL2_SEARCH__POLICIES says so"]


# ------------------------------------------------------------------ over REST


async def test_over_rest(stage, files: Files) -> None:
    told = []
    stage.generator.bus.on(ConfigReload, lambda message, _envelope: told.append(message.section))
    assert (await stage.http("GET", "/api/web")).json()["enabled"] is False
    answer = await stage.http("PUT", "/api/web", json={"enabled": True})
    assert (answer.status_code, answer.json()) == (
        200,
        {
            "enabled": True,
            "tools": [
                {"name": "mine", "tool": "my_tool", "enabled": True},
                {"name": "search", "tool": "web_search", "enabled": True},
            ],
            "problems": [],
        },
    )
    await (await stage.connect()).pong()
    assert told == ["mine", "search"]
    assert (await stage.http("GET", "/api/web")).json() == answer.json()


@pytest.mark.parametrize("body", [{}, {"enabled": "yes"}, {"enabled": 1}, {"enabled": None}, [True]])
async def test_a_wrong_body_gets_words_and_changes_nothing(stage, files: Files, body: object) -> None:
    answer = await stage.http("PUT", "/api/web", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid")
    assert list(files.user.iterdir()) == []


# ------------------------------------------------------------------ on the command line


def test_setup_shows_and_decides(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["setup"]) == ExitCode.OK
    assert capsys.readouterr().out.startswith("The web is off: no tool reaches beyond this machine.")
    assert run(["setup", "--web", "on"]) == ExitCode.OK
    said = capsys.readouterr().out
    assert said.startswith("The web is on: these tools may reach it.")
    assert [line.split() for line in said.splitlines()[1:]] == [["my_tool", "on"], ["web_search", "on"]]
    (files.user / "search.yaml").write_text("[")
    assert run(["setup"]) == ExitCode.FAILED
    assert "search.yaml" in capsys.readouterr().err
