"""Which model does a tool use that has one, and what of its replies?"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any, ClassVar

import pytest

from bus.errors import RequestFailed
from bus.messages.generation import BackendInfo, GeneratorStatus, GetStatus, RoleInfo
from participants.tools.agent_tool import AgentToolConfig, BaseAgentTool, Model, ModelFailed, model_of
from tests.participants.tools.calling import Calling, calling
from tests.support.scripted_ollama import BadJson, Drop, Hang, Say, ScriptedOllama, Status, Think

URL = "http://127.0.0.1:1"


def status(url: str = URL, *, demo: bool = False, **roles: str) -> GeneratorStatus:
    return GeneratorStatus(
        backend=BackendInfo(kind="ollama", url=url, demo=demo),
        roles=[RoleInfo(role=role, model=model, available=bool(model)) for role, model in roles.items()],
        models=[],
        turns={},
        tools=[],
        options={"num_ctx": 4096, "num_predict": 99},
    )


@pytest.mark.parametrize(
    ("told", "role", "name"),
    [
        (status(default="m", quality="q"), "default", "m"),
        (status(default="m", quality="q"), "quality", "q"),
        (status(default="m", quality=""), "quality", "m"),
        (status(default="m"), "no-such-role", "m"),
        (status(default=""), "default", ""),
        (status(), "default", ""),
        (status(demo=True, default="m"), "default", ""),
        (status(url="", default="m"), "default", ""),
    ],
)
def test_the_model_is_the_one_that_the_generator_names(told: GeneratorStatus, role: str, name: str) -> None:
    assert model_of(told, role) == (Model(URL, name, 4096) if name else None)


class AgentTool(BaseAgentTool):
    """A tool that asks its model whatever it is called with."""

    CONFIG_NAME: ClassVar[str] = "probe"

    async def run_call(self, args: dict[str, Any]) -> str:
        model = await self.model()
        if model is None:
            return "no model"
        try:
            return await self.complete(model, [{"role": "user", "content": args["say"]}], tokens=64)
        except ModelFailed:
            return "no text"


CONFIG = AgentToolConfig(
    id="probe_tool", tool="probe", description="For tests.", parameters={"type": "object"}, model_s=0.5
)


@pytest.fixture
async def model() -> AsyncIterator[ScriptedOllama]:
    async with ScriptedOllama() as server:
        yield server


@pytest.fixture
async def scene(model: ScriptedOllama) -> AsyncIterator[Calling]:
    async with calling(AgentTool, CONFIG) as scene:
        scene.service.serve(GetStatus, status(model.url, default="scripted"))
        yield scene


async def test_it_keeps_the_context_that_the_model_is_loaded_with(scene: Calling, model: ScriptedOllama) -> None:
    model.reply(Think("hm"), Say("<think>well</think> Hello."))
    assert await scene.said(say="hi") == "Hello."
    body = (await model.next_request("/api/chat")).body
    assert body["options"] == {"num_ctx": 4096, "num_predict": 64}
    assert (body["think"], body["tools"]) == (False, [])


@pytest.mark.parametrize("step", [Status(500, "boom"), Status(404, "no such model"), Drop(), BadJson(), Hang()])
async def test_a_model_that_fails_gives_no_text(scene: Calling, model: ScriptedOllama, step: Any) -> None:
    model.reply(step)
    assert await scene.said(say="hi") == "no text"


async def test_thinking_that_never_ends_is_no_text_either(scene: Calling, model: ScriptedOllama) -> None:
    model.reply(Say("<think>well, well"))
    assert await scene.said(say="hi") == ""


async def test_without_a_generator_or_a_server_there_is_no_model(scene: Calling) -> None:
    scene.service.serve(GetStatus, status(URL, default="scripted"))
    assert await scene.said(say="hi") == "no text"
    scene.service.serve(GetStatus, RequestFailed("x", "y"))
    assert await scene.said(say="hi") == "no model"


def test_the_clients_are_loaded_for_a_question_alone() -> None:
    heavy = "{'httpx', 'ollama', 'pydantic'}"
    script = f"import sys, participants.tools.librarian.tool; sys.exit(len({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
