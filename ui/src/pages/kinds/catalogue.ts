/** What is known of each kind, from its jobs, its workers, its settings and its figures. Pure. */
import { type Counts, type Kind, type Stats, STATES, sumOf, type Worker } from "@/api/types";
import type { KindFigures } from "@/pages/analytics/kindRows";

export interface KindRow {
  kind: string;
  queues: string[];
  jobs: Record<string, number>;
  /** Jobs that are not final. */
  live: number;
  /** Connected workers that handle it. */
  workers: number;
  transactional: boolean;
  figures: KindFigures | undefined;
  /** Jobs wait and nobody handles it. */
  unserved: boolean;
  /** Nothing of it is there, ran lately, or could run. */
  stale: boolean;
}

const LIVE = ["scheduled", "blocked", "queued", "running", "retrying"] as const;

export function catalogue(pairs: Stats["by_kind"] | undefined, workers: readonly Worker[] | undefined, settings: readonly Kind[] | undefined, figures: readonly KindFigures[]): KindRow[] {
  const there = (workers ?? []).filter((worker) => worker.state !== "lost" && worker.state !== "gone");
  const figuresBy = new Map(figures.map((row) => [row.kind, row]));
  const settingsBy = new Map((settings ?? []).map((row) => [row.kind, row]));
  const counts = new Map<string, { queues: string[]; jobs: Record<string, number> }>();
  for (const { kind, queue, jobs } of pairs ?? []) {
    let found = counts.get(kind);
    if (!found) counts.set(kind, (found = { queues: [], jobs: {} }));
    found.queues.push(queue);
    for (const state of STATES) found.jobs[state] = (found.jobs[state] ?? 0) + (jobs[state] ?? 0);
  }
  const names = new Set([...counts.keys(), ...settingsBy.keys(), ...there.flatMap((worker) => worker.kinds), ...figuresBy.keys()]);
  names.delete("_other");
  return [...names].sort().map((kind) => {
    const { queues, jobs } = counts.get(kind) ?? { queues: [], jobs: {} };
    const live = sumOf(jobs as Counts, LIVE);
    const handlers = there.filter((worker) => worker.kinds.length === 0 || worker.kinds.includes(kind)).length;
    const row = figuresBy.get(kind);
    return {
      kind,
      queues,
      jobs,
      live,
      workers: handlers,
      transactional: settingsBy.get(kind)?.transactional ?? false,
      figures: row,
      // Before the workers are known, nobody is blamed.
      unserved: workers !== undefined && handlers === 0 && live > 0,
      stale: workers !== undefined && handlers === 0 && live === 0 && !row,
    };
  });
}

export type Which = "used" | "all";

/** Kinds that have jobs, ran lately or have settings; a worker alone brings many that nobody has ever used. */
export const isUsed = (row: KindRow): boolean => row.queues.length > 0 || row.figures !== undefined || row.transactional;
