import { render } from "@testing-library/react";
import { expect, test } from "vitest";

import { Markdown } from "./markdown";
import { keepMath } from "./math";

function shown(text: string, live = false): HTMLElement {
  return render(<Markdown text={text} live={live} />).container;
}

test.each([
  String.raw`\[ a_1 * b_2 * c_3 \]`,
  String.raw`\( \frac{a}{b} \)`,
  String.raw`$x_1 + y_1$ and $\alpha^{*}*\beta^{*}$`,
  String.raw`$$ \begin{matrix} a & b \\ c & d \end{matrix} $$`,
  String.raw`\[ [link](a) <b> &amp; \]`,
])("%s stands as it was written", (text) => {
  const page = shown(text);
  expect(page.textContent.trim()).toBe(text);
  expect(page.querySelector("a, em, strong, b")).toBeNull();
});

test("over several lines, beside a list and in a table", () => {
  const text = String.raw`\[
- a_1
= b_1
\]`;
  expect(shown(text).textContent.trim()).toBe(text);
  expect(
    shown(String.raw`- so \(a_1\)`)
      .querySelector("li")
      ?.textContent.trim(),
  ).toBe(String.raw`so \(a_1\)`);
  const table = "| a | b |\n| - | - |\n| \\(x_1\\) | $y_1$ |";
  expect([...shown(table).querySelectorAll("td")].map((one) => one.textContent)).toEqual([
    String.raw`\(x_1\)`,
    "$y_1$",
  ]);
});

test("prices are no formulas, and escapes stay escapes", () => {
  expect(shown("*$5* and *$6*, $7-$8").querySelectorAll("em")).toHaveLength(2);
  expect(shown(String.raw`\*no\* \$1 \_x\_`).textContent.trim()).toBe("*no* $1 _x_");
});

test.each([
  "`\\(a_1\\)`",
  "``a ` \\(b\\)``",
  "```tex\n\\[ x_1 \\]\n```",
  "~~~\n$x$\n~~~",
  "```\n\\[ still open",
])("code stays code: %j", (text) => {
  expect(keepMath(text, false)).toBe(text);
  expect(keepMath(text, true)).toBe(text);
});

test("a formula that still comes is shown as far as it came", () => {
  expect(shown(String.raw`So \[ a_1 + **b`, true).textContent.trim()).toBe(
    String.raw`So \[ a_1 + **b`,
  );
});
