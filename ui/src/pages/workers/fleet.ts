/** What the workers are together: threads, versions that differ, and who is lost. */
import { matches } from "@/api/glob";
import type { Stats, Worker } from "@/api/types";
import type { Tone } from "@/pages/glyphs";

export const isHere = (worker: Worker): boolean => worker.state !== "lost" && worker.state !== "gone";

export interface Fleet {
  here: number;
  lost: number;
  threads: number;
  used: number;
  /** Versions with how many run them, the most common first. */
  versions: [string, number][];
}

export function fleetOf(workers: readonly Worker[]): Fleet {
  const here = workers.filter(isHere);
  const versions = new Map<string, number>();
  for (const { version } of here) versions.set(version, (versions.get(version) ?? 0) + 1);
  return {
    here: here.length,
    lost: workers.filter((worker) => worker.state === "lost").length,
    threads: here.reduce((sum, worker) => sum + worker.threads, 0),
    used: here.reduce((sum, worker) => sum + worker.threads_used, 0),
    versions: [...versions].sort(([a, many], [b, more]) => more - many || a.localeCompare(b)),
  };
}

/** `0.2.0 on 5, 0.1.0 on 1`, if they do not all run the same. */
export function skewOf(fleet: Fleet): string | undefined {
  if (fleet.versions.length < 2) return undefined;
  return fleet.versions.map(([version, count]) => `${version || "unknown"} on ${count}`).join(", ");
}

export function toneOf(worker: Worker): Tone {
  switch (worker.state) {
    case "available":
    case "busy":
      return "well";
    case "lost":
      return "bad";
    case "draining":
    case "unavailable":
      return "warn";
    default:
      return "plain";
  }
}

/** Those that are gone last; among the rest what needs a look first. */
export function inOrder(workers: readonly Worker[]): Worker[] {
  const rank = (worker: Worker) => ["lost", "unavailable", "draining", "busy", "available", "gone"].indexOf(worker.state);
  return [...workers].sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name) || a.id.localeCompare(b.id));
}

export interface Unserved {
  kind: string;
  queue: string;
  waiting: number;
}

/** Kinds whose jobs wait in a queue where no worker handles them, the most jobs first. */
export function unserved(pairs: Stats["by_kind"], workers: readonly Worker[]): Unserved[] {
  const here = workers.filter(isHere);
  const serves = (worker: Worker, kind: string, queue: string) =>
    (worker.kinds.length === 0 || worker.kinds.includes(kind)) && (worker.queues.length === 0 || worker.queues.some((glob) => matches(glob, queue)));
  return pairs
    .map(({ kind, queue, jobs }) => ({ kind, queue, waiting: jobs.queued ?? 0 }))
    .filter(({ kind, queue, waiting }) => waiting > 0 && !here.some((worker) => serves(worker, kind, queue)))
    .sort((a, b) => b.waiting - a.waiting);
}
