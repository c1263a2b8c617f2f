import { expect, test } from "vitest";

import type { SettingView } from "../wire/rest";
import { setting } from "./setting-testing";
import { asText, boundsWords, editorOf, emptyWords, fromText, valueWords } from "./setting-values";

test.each([
  [{ value: true, type: "bool" }, "switch"],
  [{ value: null, type: "bool or null" }, "switch"],
  [{ value: "a", type: "str", choices: ["a", "b"] }, "choice"],
  [{ value: 3, type: "int" }, "number"],
  [{ value: null, type: "float or null" }, "number"],
  [{ value: "x", type: "str", default: "" }, "text"],
  [{ value: null, type: "str or null" }, "text"],
  [{ value: "a\nb", type: "str" }, "long"],
  [{ value: "x", type: "str", default: "many words ".repeat(10) }, "long"],
  [{ value: ["a"], type: "list" }, "json"],
  [{ value: null, type: "dict or null" }, "json"],
] satisfies [Partial<SettingView>, string][])("%j is edited by a %s", (change, editor) => {
  expect(editorOf(setting(change))).toBe(editor);
});

test.each([5, 0.25, true, "words", "", "two\nlines", ["a", 1], { a: null }])(
  "%j survives being text",
  (value) => {
    const one = setting({ value, type: "" });
    const editor = editorOf(one);
    expect(fromText(asText(value, editor), editor, one)).toEqual(value);
  },
);

test.each([
  [{ minimum: 1 }, "At least 1."],
  [{ minimum: 0, maximum: 2 }, "From 0 to 2."],
  [{ above: 0 }, "More than 0."],
  [{ above: 0, maximum: 120 }, "More than 0, at most 120."],
  [{ below: 9 }, "Less than 9."],
  [{}, ""],
] satisfies [Partial<SettingView>, string][])("bounds %j are said as %j", (change, words) => {
  expect(boundsWords(setting(change))).toBe(words);
});

test.each([
  ["12x", { type: "float" }, "not a number"],
  ["0", { above: 0 }, "more than 0"],
  ["3", { minimum: 0, maximum: 2 }, "from 0 to 2"],
  ["1.5", { type: "int" }, "whole number"],
  ["", { type: "int" }, "cannot be empty"],
] satisfies [string, Partial<SettingView>, string][])(
  "%j for %j is refused",
  (text, change, words) => {
    expect(() => fromText(text, "number", setting(change))).toThrow(words);
  },
);

test("what is no JSON is refused with words", () => {
  expect(() => fromText("{", "json", setting({ type: "dict" }))).toThrow("not valid JSON");
});

test("an empty field means what its description says", () => {
  const one = setting({
    ...{ value: null, type: "float or null" },
    description: "How freely words are chosen; empty: the model's own.",
  });
  expect(emptyWords(one)).toBe("the model's own");
  expect(fromText(" ", "number", one)).toBeNull();
  expect(valueWords(null, one)).toBe("empty, the model's own");
  expect(valueWords(true, one)).toBe("on");
});
