/** Queues, the worst first: those whose first job waits long and to which more comes than ends. Pure. */
import type { Queue } from "@/api/types";
import { byName, share, type Timeseries } from "@/pages/analytics/figures";

export interface QueueRow {
  queue: Queue;
  /** Jobs that ended, per second over the last hour. */
  perSecond: number | undefined;
  /** Share of attempts that failed in the last hour. */
  failed: number | undefined;
  /** Jobs that came beyond those that ended, per minute over the last minutes. */
  growth: number;
  points: number[];
}

/** Steps at the end from which growth is taken. */
const RECENT = 3;

export function queueRows(queues: readonly Queue[], figures: { ended?: Timeseries; came?: Timeseries; failed?: Timeseries; ran?: Timeseries }, stepMinutes: number): QueueRow[] {
  const ended = byName(figures.ended);
  const came = byName(figures.came);
  const failed = byName(figures.failed);
  const ran = byName(figures.ran);
  const rows = queues.map((queue): QueueRow => {
    const out = ended.get(queue.queue);
    const recent = (line: typeof out) => (line?.points ?? []).slice(-RECENT).reduce((sum, point) => sum + point.count, 0);
    const minutes = (out?.points.length ?? 0) * stepMinutes;
    return {
      queue,
      // No line means that nothing ended, once the figures are there at all.
      perSecond: figures.ended ? (minutes > 0 ? (out?.total.count ?? 0) / (minutes * 60) : 0) : undefined,
      failed: share(failed.get(queue.queue)?.total.count, ran.get(queue.queue)?.total.count),
      growth: (recent(came.get(queue.queue)) - recent(out)) / (RECENT * stepMinutes),
      // The step that still runs would look like a decline.
      points: out?.points.slice(0, -1).map((point) => point.count) ?? [],
    };
  });
  return rows.sort((a, b) => badness(b) - badness(a) || (b.perSecond ?? 0) - (a.perSecond ?? 0) || a.queue.queue.localeCompare(b.queue.queue));
}

/** How long its first job waits, more so the faster it grows. A paused queue waits because somebody said so. */
export function badness({ queue, growth }: Pick<QueueRow, "queue" | "growth">): number {
  const oldest = queue.oldest_ready_ms ?? 0;
  // Less than this is how jobs always wait.
  if (oldest < 1000) return 0;
  return oldest * (1 + Math.max(0, growth)) * (queue.paused ? 0.001 : 1);
}
