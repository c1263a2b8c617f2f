import { expect, test } from "vitest";

import { backoffMs } from "./backoff";

test("it doubles from a quarter of a second to five", () => {
  const waits = [0, 1, 2, 3, 4, 5, 6, 99].map((failures) => backoffMs(failures, () => 0));
  expect(waits).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000, 5000]);
});

test("chance takes off a fifth at most", () => {
  expect(backoffMs(2, () => 1)).toBe(800);
});
