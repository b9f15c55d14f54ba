import { expect, it } from "vitest";
import type { Operation } from "@/api/types";
import { leftMs, paceOf, skippedInWords, targetOf, titleOf } from "./progress";

const operation = (more: Partial<Operation> = {}) => ({ created_at: "2026-11-16T10:00:00Z", done: 30, skipped: 0, skipped_by: {}, state: "running", ...more }) as Operation;

it("says what an operation is for", () => {
  expect(targetOf(operation({ filter: "state:dead" }))).toBe("state:dead");
  expect(targetOf(operation({ all: true }))).toBe("all jobs");
  expect(targetOf(operation({ ids: 1 }))).toBe("1 job by id");
});

it("is called by how many jobs it is for, or by its filter", () => {
  expect(titleOf(operation({ action: "replay", filter: "state:dead", total: 12 }))).toBe("Replay: 12 jobs");
  expect(titleOf(operation({ action: "cancel", filter: "queue:mail" }))).toBe("Cancel: queue:mail");
});

it("says how long it will take at its pace, if it knows how much there is", () => {
  const now = Date.parse("2026-11-16T10:00:10Z");
  expect(leftMs(operation({ total: 100, skipped: 20 }), now)).toBe(10_000);
  expect(leftMs(operation(), now)).toBeUndefined();
  expect(leftMs(operation({ total: 100, state: "done" }), now)).toBeUndefined();
});

it("says why jobs were skipped, the most common first", () => {
  expect(skippedInWords(operation({ skipped_by: { gone: 1, final: 3, live: 0, new_reason: 2 } as never }))).toEqual(["3 had ended already", "2 new reason", "1 was gone"]);
});

it("counts its pace over its own time", () => {
  expect(paceOf(operation(), Date.parse("2026-11-16T10:00:10Z"))).toBe(3);
  expect(paceOf(operation({ finished_at: "2026-11-16T10:00:01Z" }), Date.parse("2026-11-16T11:00:00Z"))).toBe(30);
  expect(paceOf(operation(), Date.parse("2026-11-16T10:00:00Z"))).toBeUndefined();
});
