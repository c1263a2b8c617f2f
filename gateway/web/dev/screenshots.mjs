// How does every page look? `npm run build`, `npm run mock` in another terminal, then `npm run shots`.
// Writes to SHOTS (/tmp/shots); fails where the page logs an error, such as a refused style.

import { mkdir } from "node:fs/promises";
import { chromium } from "playwright-core";

const BASE = process.env.MOCK_URL ?? "http://127.0.0.1:8799";
const OUT = process.env.SHOTS ?? "/tmp/shots";
const SIZES = { desktop: [1280, 800], phone: [390, 844], narrow: [360, 740] };

await mkdir(OUT, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
});
const problems = [];

async function ask(page, text) {
  await page.getByLabel("Your question").fill(text);
  await page.keyboard.press("Enter");
}

async function settled(page) {
  await page
    .locator('.turn[aria-busy="true"]')
    .first()
    .waitFor({ state: "detached", timeout: 60_000 });
}

async function tour(name, theme) {
  const [width, height] = SIZES[name];
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    hasTouch: name !== "desktop",
  });
  const page = await context.newPage();
  page.on("console", (message) => {
    if (message.type() === "error") {
      problems.push(`${name} ${theme}: ${message.text()}`);
    }
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(BASE)) {
      problems.push(`${name} ${theme}: asked for ${request.url()}`);
    }
  });
  const shot = (what) => page.screenshot({ path: `${OUT}/${name}-${theme}-${what}.png` });

  await page.goto(BASE);
  await page.locator(".chip.demo").waitFor();
  await shot("1-welcome");
  await ask(page, "What day is it today, and what time is it?");
  await page.locator(".tool-card").waitFor();
  await shot("2-tool-running");
  await settled(page);
  await ask(page, "Write a Python function that finds duplicate files.");
  await page.locator("pre code").waitFor();
  await page.waitForTimeout(1500);
  await shot("3-streaming");
  await ask(page, "And a second question, which waits?");
  await page.locator(".progress", { hasText: "Queued" }).waitFor();
  await shot("4-queued");
  await page.getByLabel("Stop the answer").click();
  await page.getByText("Stopped").first().waitFor();
  await settled(page);
  await ask(page, "Search the news about slow joiners");
  await page.locator(".answer").last().waitFor();
  await settled(page);
  await page.locator(".tool-head").last().click();
  await page.locator(".thinking-head").last().click();
  await page.waitForTimeout(300);
  await shot("5-tools");
  await ask(page, "Please fail");
  await settled(page);
  await page.waitForTimeout(200);
  await shot("6-failed");
  await ask(page, "hostile");
  await settled(page);
  await shot("7-hostile");
  if ((await page.title()) === "run") {
    problems.push(`${name} ${theme}: a script ran`);
  }
  if (name !== "desktop") {
    await page.getByLabel("Open the sidebar").click();
    await page.waitForTimeout(400);
    await shot("8-drawer");
    await page.keyboard.press("Escape");
  } else {
    await page.locator(".session-menu").first().click();
    await page.waitForTimeout(200);
    await shot("8-menu");
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.waitForTimeout(200);
    await shot("8-delete");
    await page.getByRole("button", { name: "Cancel" }).click();
  }
  await page.goto(`${BASE}/status`);
  await page.getByText("Participants").first().waitFor();
  await shot("9-status");
  await page.goto(`${BASE}/settings`);
  await page.locator(".setting").first().waitFor();
  await shot("9-settings");
  await context.close();
}

const wanted = process.argv[2]?.split(",") ?? Object.keys(SIZES);
for (const name of wanted) {
  for (const theme of ["light", "dark"]) {
    await tour(name, theme);
  }
}
await browser.close();
if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exitCode = 1;
}
