import { expect, it } from "vitest";
import { MOST_VISIBLE, together } from "./protocol";

it("asks for what all tabs want, in one order", () => {
  const a = { topics: ["counts", "worker"] as const, visible: [] };
  const b = { topics: ["job", "counts"] as const, visible: ["job_2", "job_1"] };
  const want = (...wants: (typeof a | typeof b)[]) => together(wants.map((w) => ({ ...w, topics: [...w.topics] })));
  expect(want(a, b)).toEqual({ topics: ["job", "worker", "counts"], visible: ["job_1", "job_2"] });
  expect(want(b, a)).toEqual(want(a, b));
});

it("never asks for every job there is", () => {
  expect(together([{ topics: ["job", "attempt", "counts"], visible: [] }]).topics).toEqual(["counts"]);
});

it("follows no more jobs than the server tells of", () => {
  const ids = Array.from({ length: MOST_VISIBLE + 1 }, (_, n) => `job_${n}`);
  expect(together([{ topics: ["job"], visible: ids }]).visible.length).toBe(MOST_VISIBLE);
});
