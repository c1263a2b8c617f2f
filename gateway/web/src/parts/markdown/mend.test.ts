import { expect, test } from "vitest";

import { mend } from "./mend";

test.each([
  ["It is **no", "It is **no**"],
  ["It is **", "It is "],
  ["It is **no** or **ye ", "It is **no** or **ye**"],
  ["~~gone", "~~gone~~"],
  ["Use `git pu", "Use `git pu`"],
  ["Use `", "Use "],
  ["Use ``a ` b", "Use ``a ` b``"],
  ["See [the doc", "See the doc"],
  ["See [the docs](https://exam", "See the docs"],
  ["![a cat](https://exam", "a cat"],
  ["**See [the docs](https://exam", "**See the docs**"],
  ["One **two\n\nthree **fo", "One **two\n\nthree **fo**"],
])("%j is shown as %j", (text, mended) => {
  expect(mend(text)).toBe(mended);
});

test.each([
  "Plain words.",
  "**whole** and `code` and [link](https://example.org)",
  "A list:\n\n- [x] done\n- [ ] open",
  "`**` is a mark, and `[` a bracket",
  "```py\nx = 2 ** 3\n",
  "2 * 3 and a_b",
  "",
])("%j is whole", (text) => {
  expect(mend(text)).toBe(text);
});
