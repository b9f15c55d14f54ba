import { expect, test } from "vitest";
import { KEPT_MS, withBeat } from "./beats";

test("a beat counts once, however often it is told", () => {
  const beats = withBeat(withBeat([], 1000, 1100), 3000, 3100);
  expect(beats).toEqual([1000, 3000]);
  expect(withBeat(beats, 3040, 3500)).toBe(beats);
  expect(withBeat(beats, 2000, 3500)).toBe(beats);
});

test("what is too old is forgotten", () => {
  expect(withBeat([1000, 3000], 1000 + KEPT_MS, 1000 + KEPT_MS)).toEqual([3000, 1000 + KEPT_MS]);
});
