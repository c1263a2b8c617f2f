import { render } from "@testing-library/react";
import { expect, test } from "vitest";

import "./highlight";
import { Markdown } from "./markdown";
import { hideMaths, showMaths } from "./maths";

function shown(text: string, live = false): HTMLElement {
  return render(<Markdown text={text} live={live} />).container;
}

const formulas = (page: HTMLElement) =>
  [...page.querySelectorAll(".maths")].map((one) => one.textContent);

test.each([
  ["Area: \\(a^2 + b^2\\) holds.", ["\\(a^2 + b^2\\)"]],
  ["\\[ \\int_0^1 x_1 * y_2 * z \\, dx \\]", ["\\[ \\int_0^1 x_1 * y_2 * z \\, dx \\]"]],
  ["\\[\n\\begin{pmatrix} a & b \\\\ c\n\n- d\\end{pmatrix}\n\\]", null],
  ["Let $a_1 * b_2 * c$ and $x_i^*$ be.", ["$a_1 * b_2 * c$", "$x_i^*$"]],
  ["$$\n\\sum_{i=1}^n x_i \\\\\n\n- 5\n$$", null],
  ["**\\(x\\)**, *$y$* and ~~\\(z\\)~~", ["\\(x\\)", "$y$", "\\(z\\)"]],
  ["$<b>x</b>$", ["$<b>x</b>$"]],
  ["It costs \\$5, and $x=5$.", ["$x=5$"]],
  ["`code` and $2^{10}$", ["$2^{10}$"]],
])("%j keeps its formulas as they are", (text, wanted) => {
  const page = shown(text);
  expect(formulas(page)).toEqual(wanted ?? [text]);
  expect(page.querySelector("li, em > .maths em")).toBeNull();
});

test.each([
  "Costs $10 and $3.99, really.",
  "From $5/$6 to US$7 and CA$8.",
  "$5 off, or $6 off the US$",
  "A \\\\(backslash\\\\) each.",
  "Only \\( opens.",
  "Only $$ opens.",
  "a $ b $ c",
])("%j has none", (text) => {
  expect(formulas(shown(text))).toEqual([]);
});

test.each([
  ["```tex\n\\(x\\) $$y$$\n```", "pre"],
  ["~~~\n$a_1$ and $b_1$\n~~~", "pre"],
  ["`\\(x\\)` and `$a$`", "code"],
  ["    \\[x\\]\n    $y$", "pre"],
  ["- a\n  ```\n  $x$\n  ```", "pre"],
])("code stays as it is: %j", (text, selector) => {
  const page = shown(text);
  expect(page.querySelector(selector)?.querySelector(".maths") ?? null).toBeNull();
  expect(page.textContent).not.toMatch(/[\uE000-\uE1FF]/);
  expect(page.textContent).toMatch(/\\[[(]x|\$[axy]/);
});

test("addresses keep their dollars", () => {
  const page = shown("[a](https://example.org/$x$y) https://example.org/?q=$a$b");
  expect([...page.querySelectorAll("a")].map((link) => link.getAttribute("href"))).toEqual([
    "https://example.org/$x$y",
    "https://example.org/?q=$a$b",
  ]);
});

test("an escaped link is no formula", () => {
  const page = shown("\\[a\\](b) and \\*plain\\*");
  expect(page.textContent).toBe("[a](b) and *plain*");
});

test("a formula with bars fits into a cell of a table", () => {
  const page = shown("| a | b |\n| --- | --- |\n| $|x|$ | \\(y\\) |");
  expect([...page.querySelectorAll("td")].map((cell) => cell.textContent)).toEqual([
    "$|x|$",
    "\\(y\\)",
  ]);
});

test("a formula that still comes loses nothing either", () => {
  expect(shown("So \\(a_1 * b", true).textContent).toBe("So \\(a_1 * b");
  expect(shown("So\n\n\\[\n a_1 \\\\", true).textContent).toContain("\\[\n a_1 \\\\");
  expect(formulas(shown("It costs $5 and", true))).toEqual([]);
});

test("hiding loses nothing, whatever a text holds", () => {
  const odd = "😀 \\(é\uD800\u0000\\) \uE000\uE001 \uE000\uE100\uE141\uE001 $x$";
  expect(showMaths(hideMaths(odd))).toBe(odd.replace("\uE000\uE100\uE141\uE001", "A"));
});

test("many openings without an end hold up nothing", () => {
  const text = "\\[ \\( $a ".repeat(10_000);
  expect(hideMaths(text)).toBe(text);
  expect(showMaths(hideMaths(text, true))).toBe(text);
});

test("lines and blanks of a formula stay where they were", () => {
  const text = "\\[\n    a_1\n- b\n      = c\n\\]";
  expect(formulas(shown(text))).toEqual([text]);
});
