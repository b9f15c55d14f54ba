/** What the figures of a queue mean: its rates, how long it takes to empty, and one sentence about how it is. */
import type { components } from "@/api/schema";
import type { Queue } from "@/api/types";
import { formatCount, formatDuration, formatRate } from "@/design/format";

type Point = components["schemas"]["PointBody"];

/** How far back rates look. */
const RECENT_MS = 5 * 60_000;

/** Points that are over: the last one is still being filled, and would look like a fall. */
export function settled<P extends { at: string }>(points: readonly P[], now: number): readonly P[] {
  const step = stepMs(points);
  return points.filter((point) => Date.parse(point.at) + step <= now);
}

export function stepMs(points: readonly { at: string }[]): number {
  const [first, second] = points;
  return first && second ? Date.parse(second.at) - Date.parse(first.at) : 60_000;
}

/** A count of each point as a rate per second. */
export function ratesOf(points: readonly Point[], count: (point: Point) => number | null | undefined): (number | null)[] {
  const seconds = stepMs(points) / 1000;
  return points.map((point) => {
    const value = count(point);
    return value === null || value === undefined ? null : value / seconds;
  });
}

/** The mean over the last five minutes, or over the last step if that is longer. */
export function recentRate(rates: readonly (number | null)[], step = 60_000): number | undefined {
  const known = rates.slice(-Math.max(1, Math.round(RECENT_MS / step))).filter((rate) => rate !== null);
  return known.length === 0 ? undefined : known.reduce((sum, rate) => sum + rate, 0) / known.length;
}

export interface Flow {
  enqueued?: number | undefined;
  finished?: number | undefined;
}

/** When nothing will wait any more, if things go on as they do: "Empties in ≈ 4 m", "Grows by 3/s". */
export function drainEstimate(ready: number, { enqueued, finished }: Flow): string | undefined {
  if (ready === 0 || enqueued === undefined || finished === undefined) return undefined;
  const net = finished - enqueued;
  if (net > 0.001) return `Empties in ≈ ${formatDuration((ready / net) * 1000)}`;
  if (net < -0.001) return `Grows by ${formatRate(-net)}`;
  return finished === 0 ? "Nothing finishes" : "Neither grows nor shrinks";
}

export interface Verdict {
  tone: "well" | "warn" | "bad";
  text: string;
  /** What to type, if that helps. */
  command?: string;
}

/** A queue whose first job has waited less is not said to finish nothing. */
const JUDGED_AFTER_MS = 120_000;

/** One sentence: how the queue is, and what to do about it. The worst comes first. */
export function verdictOf(queue: Queue, flow: Flow): Verdict {
  const ready = queue.jobs.queued ?? 0;
  const running = queue.jobs.running ?? 0;
  const waiting = `${formatCount(ready)} ${ready === 1 ? "job waits" : "jobs wait"}`;
  if (queue.paused) return { tone: "warn", text: `Paused: nothing of it starts. ${waiting}${running ? `, ${formatCount(running)} still run` : ""}.` };
  if (queue.draining) return { tone: "warn", text: `Draining: submissions are refused. ${waiting}, ${formatCount(running)} run.` };
  if (ready > 0 && queue.workers === 0) {
    return { tone: "bad", text: `No worker serves this queue, and ${waiting}.`, command: `ganger worker start --queue ${queue.queue}` };
  }
  const most = queue.limits?.max_running;
  // Rates are of whole minutes. Before there is one, nothing is known about what finishes.
  const early = flow.finished === 0 && (queue.oldest_ready_ms ?? 0) < JUDGED_AFTER_MS;
  const estimate = early ? undefined : drainEstimate(ready, flow);
  const tail = estimate ? ` ${estimate}.` : "";
  if (ready > 0 && most != null && running >= most) {
    return { tone: "warn", text: `Held by its limit: ${formatCount(running)} of at most ${formatCount(most)} run, ${waiting}.${tail}` };
  }
  if (ready === 0) return { tone: "well", text: running ? `Nothing waits; ${formatCount(running)} run.` : "Nothing waits, nothing runs." };
  const oldest = queue.oldest_ready_ms == null ? "" : `, the oldest for ${formatDuration(queue.oldest_ready_ms)}`;
  const behind = (queue.oldest_ready_ms ?? 0) > 60_000;
  return { tone: behind ? "warn" : "well", text: `${waiting}${oldest}.${tail}` };
}

/** A queue in which every job dies is as bad as one whose first job waits this long. */
const ALL_DIE_MS = 600_000;

/** Larger is worse: what is stuck before what fails or is slow, and that before what is merely long. `died` is a share of the jobs that ended. */
export function badness(queue: Queue, died = 0): number {
  const ready = queue.jobs.queued ?? 0;
  const stuck = ready > 0 && queue.workers === 0 ? 1e12 : 0;
  const closed = queue.paused || queue.draining ? 1e11 : 0;
  return stuck + closed + died * ALL_DIE_MS * 100 + (queue.oldest_ready_ms ?? 0) * 100 + Math.min(ready, 99);
}
