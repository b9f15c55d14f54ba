/** Queues, the worst first: those whose first job waits long and to which more comes than ends. Pure. */
import type { Queue } from "@/api/types";
import { byName, recentRate, share, type Timeseries } from "@/pages/analytics/figures";

export interface QueueRow {
  queue: Queue;
  /** Jobs that ended, per second over the last minutes. */
  perSecond: number | undefined;
  /** Share of attempts that failed in the last hour. */
  failed: number | undefined;
  /** Attempts that ended in the last hour. */
  attempts: number;
  /** Jobs that came beyond those that ended, per minute over the last minutes. */
  growth: number;
  points: number[];
}

/** Minutes at the end from which rates are taken, the same as those of the tiles. */
export const RATE_MINUTES = 5;
/** Minutes at the end from which growth is taken. */
const GROWTH_MINUTES = 15;
/** Of fewer attempts a share of failures says little. */
const FEWEST = 10;
/** A queue in which everything fails is as bad as one whose first job waits this long. */
const ALL_FAIL_MS = 600_000;

export function queueRows(queues: readonly Queue[], figures: { ended?: Timeseries; came?: Timeseries; failed?: Timeseries; ran?: Timeseries }, stepMinutes: number): QueueRow[] {
  const ended = byName(figures.ended);
  const came = byName(figures.came);
  const failed = byName(figures.failed);
  const ran = byName(figures.ran);
  const rows = queues.map((queue): QueueRow => {
    const out = ended.get(queue.queue);
    const last = Math.max(1, Math.round(GROWTH_MINUTES / stepMinutes));
    const recent = (line: typeof out) => (line?.points ?? []).slice(-last).reduce((sum, point) => sum + point.count, 0);
    const attempts = ran.get(queue.queue)?.total.count ?? 0;
    return {
      queue,
      // No line means that nothing ended, once the figures are there at all.
      perSecond: figures.ended ? (recentRate(out?.points ?? [], RATE_MINUTES / stepMinutes) ?? 0) / stepMinutes : undefined,
      failed: share(failed.get(queue.queue)?.total.count, ran.get(queue.queue)?.total.count),
      attempts,
      growth: (recent(came.get(queue.queue)) - recent(out)) / (last * stepMinutes),
      // The step that still runs would look like a decline.
      points: out?.points.slice(0, -1).map((point) => point.count) ?? [],
    };
  });
  return rows.sort((a, b) => badness(b) - badness(a) || (b.perSecond ?? 0) - (a.perSecond ?? 0) || a.queue.queue.localeCompare(b.queue.queue));
}

/** How long its first job waits, more so the faster it grows, and what part of its attempts fails. A paused queue waits because somebody said so. */
export function badness({ queue, growth, failed, attempts }: Pick<QueueRow, "queue" | "growth"> & Partial<Pick<QueueRow, "failed" | "attempts">>): number {
  const fails = (attempts ?? 0) >= FEWEST ? (failed ?? 0) * ALL_FAIL_MS : 0;
  const oldest = queue.oldest_ready_ms ?? 0;
  // Less than this is how jobs always wait.
  if (oldest < 1000) return fails;
  return fails + oldest * (1 + Math.max(0, growth)) * (queue.paused ? 0.001 : 1);
}
