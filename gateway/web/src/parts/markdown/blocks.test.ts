import { expect, test } from "vitest";

import { splitBlocks } from "./blocks";

test("paragraphs, headings, lists and code stand on their own", () => {
  const text = "One\ntwo\n\n# Head\n\n- a\n\n- b\n\nAfter\n\n```py\nx\n\ny\n```\n\nEnd";
  expect(splitBlocks(text)).toEqual([
    "One\ntwo\n\n",
    "# Head\n\n- a\n\n- b\n\n",
    "After\n\n",
    "```py\nx\n\ny\n```\n\n",
    "End",
  ]);
});

test.each([
  ["a loose list", "1. one\n\n2. two\n\n   more of two\n\n3. three"],
  ["an open fence", "```\na\n\nb\n\nc"],
  ["a fence within a list item", "- ```\n  a\n\n  b\n  ```\n\n  after"],
  ["a longer fence around a shorter one", "````\n```\n\na\n\n```\n\nb\n````"],
  ["tildes around backticks", "~~~\na\n\n```\n\nb\n~~~"],
  ["a quote", "> a\n\n> b"],
  ["a definition at the end", "See [x][1].\n\nMore.\n\n[1]: https://example.org"],
  ["a comment", "<!-- a\n\nb -->"],
])("%s stays whole", (_name, text) => {
  expect(splitBlocks(text)).toEqual([text]);
});

test("a fence that a list item's end closes does not swallow the rest", () => {
  expect(splitBlocks("- ```\n  a\n\nb\n\n```\nc\n\nd\n```")).toEqual([
    "- ```\n  a\n\n",
    "b\n\n",
    "```\nc\n\nd\n```",
  ]);
});

test("inline code in backticks opens no fence", () => {
  expect(splitBlocks("```a``` b\n\nc")).toEqual(["```a``` b\n\n", "c"]);
});

test("the pieces joined are the text, at every step of a stream", () => {
  const text = "A\r\n\r\nB\n\n\n  - c\n\n~~~\n\n```\n\n~~~\nD\n\n| a |\n| - |\n\nE  \n";
  for (let length = 0; length <= text.length; length += 1) {
    const piece = text.slice(0, length);
    expect(splitBlocks(piece).join("")).toBe(piece);
  }
});
