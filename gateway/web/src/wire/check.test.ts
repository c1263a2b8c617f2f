import { expect, test } from "vitest";

import * as is from "./check";

const one = is.fields({
  name: is.text,
  size: is.oneOf(is.number, is.nothing),
  state: is.only("on", "off"),
  tags: is.list(is.text),
  more: is.record(is.flag),
  later: is.withDefault(is.text, "none"),
});

const good = { name: "a", size: null, state: "on", tags: ["x"], more: { y: true }, later: "now" };

test("what is right is passed on; what is not named is left out", () => {
  expect(one({ ...good, newer: 1 }, "")).toEqual(good);
});

test("what an older server does not say has its default", () => {
  const { later, ...older } = good;
  expect(later).toBe("now");
  expect(one(older, "")).toEqual({ ...good, later: "none" });
});

test.each([
  [null, "it: expected an object"],
  [[], "it: expected an object"],
  ["<html>", "it: expected an object"],
  [{}, ".name: expected text"],
  [{ ...good, size: "1" }, ".size: expected a number or null"],
  [{ ...good, state: "up" }, '.state: expected "on" or "off"'],
  [{ ...good, tags: ["x", 1] }, ".tags[1]: expected text"],
  [{ ...good, tags: { 0: "x" } }, ".tags: expected a list"],
  [{ ...good, more: { y: "yes" } }, ".more.y: expected true or false"],
  [{ ...good, later: null }, ".later: expected text"],
])("%j is refused with its place", (value, words) => {
  expect(() => one(value, "")).toThrow(words);
});

test("a name that objects inherit is no field of theirs, and makes no prototype", () => {
  expect(() => one(JSON.parse('{"__proto__":{"name":"a"}}'), "")).toThrow(".name");
  const read = is.record(is.anything)(JSON.parse('{"__proto__":{"x":1},"constructor":2}'), "");
  expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
  expect(Object.keys(read)).toEqual(["__proto__", "constructor"]);
});
