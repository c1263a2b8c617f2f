import { describe, expect, it } from "vitest";

import { gradeWords, inParts, placeOf, recallWords } from "./memories";
import { memory, response, turnAfter } from "./testing";

const grade = { score: 4, rubric_name: "style", feedback: "Fine.", reason: "", model: "m" };

describe("a file in parts", () => {
  it("is one part where it fits", () => {
    expect(inParts("a\nb\n", 100)).toEqual([{ lines: "a\nb\n", first: 1 }]);
  });

  it("is cut between lines, which keep their numbers", () => {
    expect(inParts("aa\nbb\ncc\ndd", 6)).toEqual([
      { lines: "aa\nbb", first: 1 },
      { lines: "cc\ndd", first: 3 },
    ]);
  });

  it("counts bytes, not characters", () => {
    expect(inParts("ää\nää", 6).map(({ first }) => first)).toEqual([1, 2]);
  });

  it("keeps a line whole that is too long", () => {
    expect(inParts("a\nbbbbbbbb\nc", 4)).toEqual([
      { lines: "a", first: 1 },
      { lines: "bbbbbbbb", first: 2 },
      { lines: "c", first: 3 },
    ]);
  });

  it("loses nothing", () => {
    const text = Array.from({ length: 50 }, (_, index) => "x".repeat(index % 7)).join("\n");
    expect(
      inParts(text, 10)
        .map(({ lines }) => lines)
        .join("\n"),
    ).toBe(text);
  });
});

describe("words", () => {
  it("count what was remembered", () => {
    const use = { memory_id: "m1", kind: "engram", score: 0.5 };
    const words = (rest: Parameters<typeof response>[0]) => {
      const { ending } = turnAfter(response(rest));
      return ending === null ? null : recallWords(ending);
    };
    expect(words({})).toBe("");
    expect(words({ recalled: [use] })).toBe("1 memory");
    expect(words({ facts: [use], recalled: [use] })).toBe("2 memories");
    expect(words({ not_recalled: "It took too long." })).toBe("nothing recalled");
  });

  it("never make a score of what was not graded", () => {
    expect(gradeWords(grade)).toBe("graded 4/5");
    expect(gradeWords({ ...grade, score: null, reason: "An echo." })).toBe("not graded");
  });

  it("name the turn that a memory comes from", () => {
    expect(placeOf(memory({ session_id: "a/b", query_id: "q?" }))).toBe("/c/a%2Fb#q%3F");
    expect(placeOf(memory({ session_id: "s1", query_id: "" }))).toBe("/c/s1");
    expect(placeOf(memory({ session_id: "" }))).toBeNull();
  });
});
