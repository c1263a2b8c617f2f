"""The backend's life: what it is when nothing is installed, what importing and warming it does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx
import ollama
import pytest

from participants.services.model_server.errors import EngineUnavailable
from participants.services.model_server.generation import Lane
from participants.services.model_server.service import EmbeddedBackend, EmbeddedConfig, Status
from tests.participants.services.model_server.conftest import ScriptedEngine

HEAVY = "starlette uvicorn xllamacpp onnxruntime tokenizers numpy httpx ollama pydantic anyio"


def test_importing_it_is_cheap() -> None:
    code = f"""
import sys
import participants.services.model_server.service as service
service.EmbeddedBackend().status()
print(*(name for name in {HEAVY.split()!r} if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == ""


async def test_without_weights_it_says_what_to_do(cache: Path) -> None:
    backend = EmbeddedBackend(EmbeddedConfig(model="default"))
    url = await backend.start()
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        body = {"model": "qwen2.5-coder", "messages": [{"role": "user", "content": "Hi"}]}
        answer = await http.post("/api/chat", json=body)
        tags = await http.get("/api/tags")
    await backend.stop()

    assert (backend.status().state, answer.status_code) == ("absent", 503)
    assert "weights install" in answer.json()["error"]
    assert tags.json() == {"models": []}


def test_a_choice_that_is_none(cache: Path) -> None:
    status = EmbeddedBackend(EmbeddedConfig(model="huge")).status()

    assert (status.state, "'huge'" in status.reason) == ("absent", True)


async def test_weights_that_arrive_later_are_used(cache: Path, tmp_path: Path, engine: ScriptedEngine) -> None:
    path = tmp_path / "late.gguf"
    backend = EmbeddedBackend(EmbeddedConfig(model=str(path)), engine_factory=lambda _model, _on_state: engine)
    with pytest.raises(EngineUnavailable, match=r"late\.gguf is not there"):
        backend.engine()

    path.write_bytes(b"GGUF")

    assert backend.engine() is engine
    assert backend.status().state == "installed"


async def test_states_are_told(cache: Path, model_file: Path) -> None:
    told: list[Status] = []
    engines: list[ScriptedEngine] = []
    backend = EmbeddedBackend(
        EmbeddedConfig(model=str(model_file)),
        told.append,
        lambda _model, on_state: engines.append(ScriptedEngine(on_state)) or engines[-1],
    )
    url = await backend.start()
    async with ollama.AsyncClient(host=url, trust_env=False) as client:
        await client.chat("toy-model")
    await backend.engine().unload()
    await backend.stop()

    assert [status.state for status in told] == ["installed", "ready", "idle"]
    assert {status.url for status in told} == {url}


async def test_warming_reads_both_heads(backend: EmbeddedBackend, engine: ScriptedEngine) -> None:
    tool = {"type": "function", "function": {"name": "clock", "description": "Tell the time.", "parameters": {}}}

    await backend.warm("You are helpful.", [tool])

    router, answer = engine.works
    assert (router.lane, answer.lane) == (Lane.ROUTER, Lane.ANSWER)
    assert "clock" in router.messages[0]["content"]
    assert answer.messages[0] == {"role": "system", "content": "You are helpful."}


async def test_it_listens_on_loopback_only() -> None:
    with pytest.raises(ValueError, match="loopback"):
        await EmbeddedBackend(EmbeddedConfig(host="0.0.0.0")).start()  # noqa: S104 - refused is what is tested
