import { expect, test } from "vitest";
import { depthOf } from "./depth";

const points = (...counts: number[]) => counts.map((count, index) => ({ at: `2026-01-01T00:0${index}:00Z`, count }));

test("the past is reckoned from now: what came is taken away, what ended is put back", () => {
  // It began with 10; 5 came and 2 ended, then 1 came and 4 ended, then 3 came.
  expect(depthOf(13, points(5, 1, 3), points(2, 4, 0))).toEqual([10, 13, 10]);
});

test("what is not known to have come counts for nothing, and no queue held less than nothing", () => {
  expect(depthOf(2, [], points(0, 1))).toEqual([3, 3]);
  expect(depthOf(0, points(0, 7), points(0, 0))).toEqual([0, 0]);
  expect(depthOf(4, [], [])).toEqual([]);
});
