import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";

import "./highlight";
import { safeHref } from "./links";
import { Markdown } from "./markdown";

function shown(text: string): HTMLElement {
  return render(<Markdown text={text} />).container;
}

test("an image never loads: it is a link that says where it leads", () => {
  const page = shown("![a cat](https://tracker.example/p.png?secret=1)");
  expect(page.querySelector("img")).toBeNull();
  const link = screen.getByRole("link", { name: "Image: a cat (tracker.example)" });
  expect(link.getAttribute("href")).toBe("https://tracker.example/p.png?secret=1");
});

test.each([
  ["an image with a handler", "<img src=x onerror=alert(1)>"],
  ["a script", "<script>alert(1)</script>"],
  ["a script in a sentence", "Hello <script>alert(1)</script> there"],
  ["a frame", '<iframe src="https://example.org"></iframe>'],
  ["a drawing", "<svg onload=alert(1)><use href='https://example.org#x'/></svg>"],
  ["a style", "<style>@import url(https://example.org)</style>"],
  ["a form", "<form action=https://example.org><input autofocus onfocus=alert(1)></form>"],
  ["a media element", "<video src=https://example.org/a.mp4 autoplay></video>"],
])("%s is text, and nothing else", (_name, text) => {
  const page = shown(text);
  expect(
    page.querySelector("img, script, iframe, svg, use, style, form, input, video, link, object"),
  ).toBeNull();
  expect(page.innerHTML).not.toMatch(/<[^>]+ on\w+=/);
  expect(page.textContent).toContain(text.slice(0, 6));
});

test.each([
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  "&#106;avascript:alert(1)",
  "java&#9;script:alert(1)",
  "data:text/html,x",
  "vbscript:x",
  "blob:https://example.org/x",
  "file:///etc/passwd",
  "//example.org/x",
  "/settings",
  "#top",
])("a link to %s is inert", (address) => {
  const page = shown(`[click](<${address}>)`);
  expect(page.querySelector("a")).toBeNull();
  expect(page.textContent).toBe("click");
});

test("an image with an address that acts is inert too", () => {
  expect(shown("![x](data:image/svg+xml,<svg/>)").querySelector("a, img")).toBeNull();
});

test("a good link opens elsewhere and takes nothing along", () => {
  shown("[docs](https://example.org/a)");
  const link = screen.getByRole("link", { name: "docs" });
  expect(link.getAttribute("target")).toBe("_blank");
  expect(link.getAttribute("rel")).toBe("noopener noreferrer");
});

test("tables, task lists and struck text are understood; a price is no strike", () => {
  const page = shown("| a |\n| --- |\n| 1 |\n\n- [x] done\n\n~~gone~~ and ~5");
  expect(page.querySelector("table td")?.textContent).toBe("1");
  expect(page.querySelector<HTMLInputElement>("input")?.disabled).toBe(true);
  expect(page.querySelector("del")?.textContent).toBe("gone");
});

test("code is shown as it is, with its language and a copy button", () => {
  const page = shown("```html\n<img src=x onerror=alert(1)>\n```");
  expect(page.querySelector("pre")?.textContent).toBe("<img src=x onerror=alert(1)>");
  expect(page.querySelector("figcaption")?.textContent).toContain("html");
  expect(screen.getByRole("button", { name: "Copy code" })).toBeDefined();
});

test("an indented block has no language", () => {
  expect(shown("    a\n    b").querySelector("figcaption")?.textContent).toContain("text");
});

test("a language of a strange name changes nothing", () => {
  const page = shown('```"><img/onerror=x\ncode\n```');
  expect(page.querySelector("img")).toBeNull();
  expect(page.querySelector("pre")?.textContent).toBe("code");
});

test("what leads out of this page is http, https or mail", () => {
  expect(safeHref("https://example.org")).toBe("https://example.org/");
  expect(safeHref("mailto:a@example.org")).toBe("mailto:a@example.org");
  expect(safeHref(" javascript:alert(1)")).toBeNull();
  expect(safeHref(undefined)).toBeNull();
});
