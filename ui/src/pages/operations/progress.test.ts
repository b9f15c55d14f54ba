import { expect, it } from "vitest";
import type { Operation } from "@/api/types";
import { paceOf, skippedInWords, targetOf } from "./progress";

const operation = (more: Partial<Operation> = {}) => ({ created_at: "2026-11-16T10:00:00Z", done: 30, skipped: 0, skipped_by: {}, state: "running", ...more }) as Operation;

it("says what an operation is for", () => {
  expect(targetOf(operation({ filter: "state:dead" }))).toBe("state:dead");
  expect(targetOf(operation({ all: true }))).toBe("all jobs");
  expect(targetOf(operation({ ids: 1 }))).toBe("1 job by id");
});

it("says why jobs were left alone, the most common first", () => {
  expect(skippedInWords(operation({ skipped_by: { gone: 1, final: 3, live: 0, new_reason: 2 } as never }))).toEqual(["3 were over already", "2 new reason", "1 was gone"]);
});

it("counts its pace over its own time", () => {
  expect(paceOf(operation(), Date.parse("2026-11-16T10:00:10Z"))).toBe(3);
  expect(paceOf(operation({ finished_at: "2026-11-16T10:00:01Z" }), Date.parse("2026-11-16T11:00:00Z"))).toBe(30);
  expect(paceOf(operation(), Date.parse("2026-11-16T10:00:00Z"))).toBeUndefined();
});
