import { expect, it } from "vitest";
import { covers, MOST_VISIBLE, together, type Want } from "./protocol";

it("asks for what all tabs want, in one order", () => {
  const a: Want = { topics: ["counts", "worker"], visible: [] };
  const b: Want = { topics: ["job", "counts"], visible: ["job_2", "job_1"] };
  expect(together([a, b])).toEqual({ topics: ["job", "worker", "counts"], visible: ["job_1", "job_2"] });
  expect(together([b, a])).toEqual(together([a, b]));
});

it("never asks for every job there is", () => {
  expect(together([{ topics: ["job", "attempt", "counts"], visible: [] }]).topics).toEqual(["counts"]);
});

it("follows no more jobs than the server tells of", () => {
  const ids = Array.from({ length: MOST_VISIBLE + 1 }, (_, n) => `job_${n}`);
  expect(together([{ topics: ["job"], visible: ids }]).visible.length).toBe(MOST_VISIBLE);
});

it("covers a want whose topics and jobs are all told", () => {
  const all: Want = { topics: ["job", "counts"], visible: ["job_1", "job_2"] };
  expect(covers(all, { topics: ["job"], visible: ["job_2"] })).toBe(true);
  expect(covers(all, { topics: ["job", "counts"], visible: [] })).toBe(true);
  expect(covers(all, { topics: ["job"], visible: ["job_3"] })).toBe(false);
  expect(covers(all, { topics: ["attempt"], visible: ["job_1"] })).toBe(false);
  expect(covers(all, { topics: ["queue"], visible: [] })).toBe(false);
});
