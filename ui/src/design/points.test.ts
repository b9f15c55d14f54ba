import { expect, it } from "vitest";
import { lonely } from "./points";

it("finds the figures without a neighbour, at the ends too", () => {
  expect(lonely([])).toEqual([]);
  expect(lonely([3])).toEqual([0]);
  expect(lonely([3, null, 0, undefined, 5, 6])).toEqual([0, 2]);
  expect(lonely([null, 1, 2, null, 7])).toEqual([4]);
  expect(lonely([1, 2, 3])).toEqual([]);
});
