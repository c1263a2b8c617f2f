"""What does a person see, in a real browser, of what is remembered, graded and summed up?"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, expect

from tests.support.browser import ask, talk
from tests.support.scripted_ollama import MODELS, Say, ScriptedOllama
from tests.support.stack import Stack

pytestmark = [pytest.mark.stack, pytest.mark.browser]
HELPERS = {
    "LOCAL2_MODELS__EMBEDDING": "scripted-embed",
    "LOCAL2_MODELS__CRITIC": "scripted-critic",
    "LOCAL2_MODELS__MEMORY": "scripted-memory",
    "LOCAL2_CRITIC__ENABLED": "true",
    "LOCAL2_COMPACTION__TAIL_TURNS": "1",
}


@pytest.fixture
async def model() -> AsyncIterator[ScriptedOllama]:
    """The scripted model server, with helper models of their own."""
    async with ScriptedOllama(models=[*MODELS, "scripted-critic:latest", "scripted-memory:latest"]) as server:
        yield server


@pytest.fixture
async def stack(model: ScriptedOllama, tmp_path: Path) -> AsyncIterator[Stack]:
    """A stack whose critic and summariser work."""
    async with Stack.started(tmp_path / "home", model.url, environment=HELPERS) as started:
        yield started


def remembered(page: Page) -> Locator:
    """The list on the memory page."""
    return page.get_by_role("region", name="What is remembered")


async def pin(page: Page, fact: str) -> None:
    """Have a fact remembered by hand."""
    await page.get_by_label("A fact to remember").fill(fact)
    await page.get_by_role("button", name="Remember", exact=True).click()
    await expect(remembered(page).get_by_text(fact)).to_be_visible()


async def test_facts_are_kept_changed_and_forgotten_by_hand(page: Page, stack: Stack, model: ScriptedOllama) -> None:
    await page.goto(f"{stack.url}/memory")
    await pin(page, "I am allergic to nuts.")
    await pin(page, "My sister lives in Oslo.")
    await page.get_by_role("button", name="Change: My sister lives in Oslo.").click()
    await page.get_by_label("What is remembered", exact=True).get_by_role("textbox").fill("My sister lives in Rome.")
    await page.get_by_role("button", name="Save").click()
    await expect(remembered(page).get_by_text("My sister lives in Rome.")).to_be_visible()
    await page.get_by_role("button", name="Forget: I am allergic to nuts.").click()
    await page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    await expect(remembered(page).get_by_text("nuts")).to_be_hidden()
    await page.get_by_label("Search the memory").fill("nuts")
    await expect(remembered(page).get_by_text("nuts")).to_be_hidden()

    await page.goto(stack.url)
    await ask(page, "Where does my sister live?")
    await expect(talk(page).get_by_role("button", name="1 memory")).to_be_visible()
    assert "Rome" in (prompt := _prompts(model)[-1])
    assert "Oslo" not in prompt
    assert "nuts" not in prompt

    await page.goto(f"{stack.url}/memory")
    await page.get_by_role("button", name="Delete everything").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete everything").click()
    await expect(page.get_by_text("Nothing is remembered yet.")).to_be_visible()
    await page.goto(stack.url)
    await ask(page, "And now?")
    await expect(talk(page).get_by_text("You said: And now?")).to_be_visible()
    assert "Rome" not in _prompts(model)[-1]


async def test_an_answer_shows_what_it_knew_and_how_it_was_graded(
    page: Page, stack: Stack, model: ScriptedOllama
) -> None:
    model.reply(Say("Feedback: it says nothing new. [RESULT] 2"), model="scripted-critic:latest", times=None)
    await page.goto(f"{stack.url}/memory")
    await pin(page, "My cat is called Minka.")
    await page.goto(stack.url)
    model.reply(Say("Minka likes boxes."))
    await ask(page, "What does my cat like to sleep in?")
    await talk(page).get_by_role("button", name="1 memory").click()
    await expect(talk(page).get_by_text("My cat is called Minka.")).to_be_visible()
    await talk(page).get_by_role("button", name="graded 2/5").click()
    await expect(talk(page).get_by_text("it says nothing new.")).to_be_visible()
    await page.reload()
    await expect(talk(page).get_by_role("button", name="graded 2/5")).to_be_visible()


async def test_a_vote_is_seen_in_another_tab_and_in_the_memory(page: Page, stack: Stack, model: ScriptedOllama) -> None:
    model.reply(Say("Tram 16 goes there, and it takes a quarter of an hour."))
    await ask(page, "Which tram goes to the National Museum?")
    await expect(talk(page).get_by_text("Tram 16 goes there")).to_be_visible()
    await expect(page).to_have_url(re.compile("/c/"))
    other = await page.context.new_page()
    await other.goto(page.url)
    thumb = talk(other).get_by_role("button", name="A good answer")
    await expect(thumb).to_have_attribute("aria-pressed", "false")
    await talk(page).get_by_role("button", name="A good answer").click()
    await expect(thumb).to_have_attribute("aria-pressed", "true")
    await other.goto(f"{stack.url}/memory")
    await expect(remembered(other).get_by_text("you liked it")).to_be_visible()
    await talk(page).get_by_role("button", name="A good answer").click()
    await expect(talk(page).get_by_role("button", name="A good answer")).to_have_attribute("aria-pressed", "false")
    await other.reload()
    await expect(remembered(other).get_by_text("Tram 16 goes there")).to_be_visible()
    await expect(remembered(other).get_by_text("you liked it")).to_be_hidden()


async def test_an_incognito_chat_keeps_and_recalls_nothing(page: Page, stack: Stack, model: ScriptedOllama) -> None:
    await page.goto(f"{stack.url}/memory")
    await pin(page, "My door code is 4711.")
    await page.goto(stack.url)
    await page.get_by_label("Incognito chat").check()
    model.reply(Say("The best gift for Anna is a telescope from the shop in Mill Lane."))
    await ask(page, "What do I give Anna for her birthday?")
    await expect(talk(page).get_by_text("telescope")).to_be_visible()
    await expect(page.get_by_text("Incognito", exact=True)).to_be_visible()
    assert "4711" not in "".join(_prompts(model))
    await page.reload()
    await expect(page.get_by_text("Incognito", exact=True)).to_be_visible()
    await page.get_by_role("link", name="New chat").first.click()
    await ask(page, "What do I give Anna?")  # by now the chat before it would have been kept
    await expect(talk(page).get_by_text("You said: What do I give Anna?")).to_be_visible()
    assert "telescope" not in _prompts(model)[-1]
    assert "4711" in _prompts(model)[-1]
    await page.goto(f"{stack.url}/memory")
    await expect(remembered(page).get_by_text("4711")).to_be_visible()
    await expect(remembered(page).get_by_text("telescope")).to_be_hidden()


async def test_older_turns_are_summed_up_when_asked(page: Page, stack: Stack, model: ScriptedOllama) -> None:
    for question in ("first question", "second question", "third question"):
        await ask(page, question)
        await expect(talk(page).get_by_text(f"You said: {question}")).to_be_visible()
    model.reply(Say("They counted to three."), model="scripted-memory:latest", times=None)
    await page.get_by_role("button", name=re.compile("^More about first question")).click()
    await page.get_by_role("menuitem", name="Sum up older turns").click()
    marker = talk(page).get_by_text("The model reads a summary of the 2 turns above")
    await expect(marker).to_be_visible()
    await marker.click()
    await expect(talk(page).get_by_text("They counted to three.")).to_be_visible()
    await expect(talk(page).get_by_text("You said: first question")).to_be_visible()
    await ask(page, "fourth question")
    await expect(talk(page).get_by_text("You said: fourth question")).to_be_visible()
    prompt = _prompts(model)[-1]
    assert "They counted to three." in prompt
    assert '"content": "first question"' not in prompt  # what is recalled may quote it
    assert '"content": "third question"' in prompt


def _prompts(model: ScriptedOllama) -> list[str]:
    """What the model that answers was asked, as text."""
    chats = [request.body for request in model.requests if request.path == "/api/chat"]
    return [json.dumps(body["messages"]) for body in chats if "scripted-" not in body["model"]]
