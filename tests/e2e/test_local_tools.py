"""Do the tools of this machine keep what the user chose, through every layer?"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.scripted_ollama import Call, Say, ScriptedOllama
from tests.support.stack import Stack

pytestmark = pytest.mark.stack


def head(model: ScriptedOllama) -> str:
    """The system prompt of the last request."""
    sent: list[dict[str, Any]] = [r for r in model.requests if r.path == "/api/chat"][-1].messages
    return str(sent[0]["content"])


async def test_persona_and_place_outlive_a_restart_of_everything(stack: Stack, model: ScriptedOllama) -> None:
    (stack.home / "config").mkdir(exist_ok=True)
    (stack.home / "config" / "location.yaml").write_text("place: Lyon\n")
    (stack.home / "config" / "personas.yaml").write_text(
        "personas: {sea dog: {description: At sea, seed: Talk like a pirate.}}\n"
    )
    await stack.command("reload")
    async with stack.chat() as chat:
        model.reply(Call("persona", {"name": "Sea-Dog"}))
        model.reply(Say("Arr."))
        (switch,) = (await chat.ask("talk like a sea dog"))["tool_calls"]
        assert (switch["outcome"], "pirate" in switch["result"]) == ("ok", True)
        assert "pirate" not in head(model)
    await stack.command("down")
    await stack.up()
    async with stack.chat() as chat, stack.chat("other") as other:
        model.reply(Call("get_location", {}))
        model.reply(Say("In Lyon."))
        (where,) = (await chat.ask("where am I?"))["tool_calls"]
        assert where["result"] == "Lyon (as the user has set it)"
        assert '"sea dog"' in head(model)
        assert head(model).endswith("Talk like a pirate.")
        await other.ask("hello")
        assert "pirate" not in head(model)
        refused = await chat.ask("hello", persona="butler")
        assert (refused["code"], "operational, sea dog" in refused["message"]) == ("unknown_persona", True)
    assert (await stack.get("/api/sessions/s1"))["session"]["persona"] == "sea dog"
