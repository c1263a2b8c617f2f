"""A real browser on a running stack."""

from __future__ import annotations

import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Locator, Page, Request, async_playwright, expect

expect.set_options(timeout=30_000)
"""Milliseconds: nothing that is waited for takes so long, however busy the machine is."""
OUTAGE = re.compile(r"net::ERR_(CONNECTION|EMPTY_RESPONSE|SOCKET)|WebSocket connection to")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]


@asynccontextmanager
async def opened(url: str, *, outage: bool = False) -> AsyncIterator[Page]:
    """A page of the running app, which fails the test on any error in the console and on any request that leaves.

    Args:
        url: Of the app.
        outage: Whether the server goes away meanwhile: Chromium writes each connection that breaks into the console.
    """
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=QUIET)
        page = await (await browser.new_context()).new_page()
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)

        def left(sent: Request) -> None:
            if not sent.url.startswith((url, url.replace("http", "ws"), "data:", "blob:")):
                complaints.append(sent.url)

        page.on("request", left)
        await page.goto(url)
        yield page
        await browser.close()
    assert [c for c in complaints if not (outage and OUTAGE.search(c))] == []


def talk(page: Page) -> Locator:
    """The conversation as it is seen: screen readers get the finished answer once more elsewhere."""
    return page.get_by_role("region", name="Conversation")


async def ask(page: Page, text: str) -> None:
    """Type a question and send it."""
    await page.get_by_label("Your question").fill(text)
    await page.keyboard.press("Enter")
