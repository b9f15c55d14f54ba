import { expect, it } from "vitest";
import type { Stats, Worker } from "@/api/types";
import { catalogue, isUsed } from "./catalogue";

const worker = (kinds: string[], state = "available") => ({ kinds, state }) as unknown as Worker;
const pairs = [
  { queue: "mail", kind: "send", jobs: { queued: 2, dead: 1 } },
  { queue: "bulk", kind: "send", jobs: { succeeded: 5 } },
  { queue: "gpu", kind: "encode", jobs: { queued: 3 } },
] as unknown as Stats["by_kind"];

it("gathers a kind from all its queues, its workers and its settings", () => {
  const rows = catalogue(pairs, [worker(["send", "unused"]), worker(["send"], "lost")], [{ kind: "old", transactional: true }], []);
  expect(rows.map((row) => row.kind)).toEqual(["encode", "old", "send", "unused"]);
  expect(rows.find((row) => row.kind === "send")).toMatchObject({ queues: ["mail", "bulk"], live: 2, workers: 1, unserved: false, jobs: { queued: 2, dead: 1, succeeded: 5 } });
});

it("marks jobs that nobody handles, and kinds that are of no use any more", () => {
  const rows = catalogue(pairs, [worker(["send"])], [{ kind: "old", transactional: false }], []);
  expect(rows.find((row) => row.kind === "encode")).toMatchObject({ unserved: true, stale: false });
  expect(rows.find((row) => row.kind === "old")).toMatchObject({ unserved: false, stale: true });
});

it("counts a worker without a list of kinds for every kind, and blames nobody before the workers are known", () => {
  expect(catalogue(pairs, [worker([])], [], []).every((row) => row.workers === 1)).toBe(true);
  expect(catalogue(pairs, undefined, undefined, []).some((row) => row.unserved || row.stale)).toBe(false);
});

it("leaves kinds that only workers know out of those in use", () => {
  const rows = catalogue(pairs, [worker(["send", "unused"])], [], []);
  expect(rows.filter(isUsed).map((row) => row.kind)).toEqual(["encode", "send"]);
});
