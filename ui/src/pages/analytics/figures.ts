/**
 * Arithmetic on what the server counted by the minute. Pure, and the same for every page that shows figures.
 *
 * A mean is exact and can be put together from several steps; a percentile cannot, so it is only ever shown as the server gave it.
 */
import type { components } from "@/api/schema";

export type Point = components["schemas"]["PointBody"];
export type Figure = components["schemas"]["FigureBody"];
export type Line = components["schemas"]["SeriesBody"];
export type Timeseries = components["schemas"]["TimeseriesBody"];

/** Seconds of a step such as `5m` or `1h`. */
export function stepSeconds(step: string): number {
  const size = { s: 1, m: 60, h: 3600, d: 86_400 } as const;
  let seconds = 0;
  for (const [, count, unit] of step.matchAll(/(\d+)([smhd])/g)) seconds += Number(count) * size[unit as keyof typeof size];
  return seconds > 0 ? seconds : 60;
}

/** When each point begins, in seconds since 1970. */
export const timesOf = (points: readonly Point[]): number[] => points.map((point) => Date.parse(point.at) / 1000);

/** The line of everything, or nothing yet. */
export const pointsOf = (data: Timeseries | undefined): readonly Point[] => data?.series[0]?.points ?? [];

export const sumOfCounts = (points: readonly Point[]): number => points.reduce((sum, point) => sum + point.count, 0);

/** What the last minutes came to, per second. The minute that still runs is left out: it would always look like a decline. */
export function recentRate(points: readonly Point[], minutes: number): number | undefined {
  const whole = points.slice(0, -1).slice(-minutes);
  return whole.length === 0 ? undefined : sumOfCounts(whole) / (whole.length * 60);
}

/** Per second at each point. The last step may still run, so it is divided by as much of it as has passed. */
export function ratesOf(points: readonly Point[], step: number, now: number, pick: (point: Point) => number = (point) => point.count): number[] {
  return points.map((point) => {
    const passed = Math.min(step, Math.max(1, (now - Date.parse(point.at)) / 1000));
    return pick(point) / passed;
  });
}

/** Without a last step that has barely begun: it would only look like a fall. */
export function settled(data: Timeseries | undefined, readAt: number): readonly Point[] {
  const points = pointsOf(data);
  const last = points.at(-1);
  if (!last || points.length < 2) return points;
  const passed = (readAt - Date.parse(last.at)) / 1000;
  return passed < stepSeconds(data?.step ?? "1m") / 4 ? points.slice(0, -1) : points;
}

/** The mean of several steps, each with its weight. */
export function meanMs(points: readonly Point[]): number | undefined {
  const count = sumOfCounts(points);
  if (count === 0) return undefined;
  return points.reduce((sum, point) => sum + (point.mean_ms ?? 0) * point.count, 0) / count;
}

/** The later and the earlier half: this hour and the one before. */
export function halves(points: readonly Point[]): { before: readonly Point[]; after: readonly Point[] } {
  const half = Math.floor(points.length / 2);
  const middle = points.length - half;
  return { before: points.slice(middle - half, middle), after: points.slice(middle) };
}

/** How much more, as a fraction; nothing to compare with gives nothing. */
export function change(before: number | undefined, after: number | undefined): number | undefined {
  if (before === undefined || after === undefined || before === 0) return undefined;
  return (after - before) / before;
}

/** `+12 %`, `−3 %`, `±0 %`; what more than tripled is told as a multiple. */
export function formatChange(fraction: number | undefined): string | undefined {
  if (fraction === undefined || !Number.isFinite(fraction)) return undefined;
  if (fraction > 2) return `×\u202f${fraction + 1 < 10 ? (fraction + 1).toFixed(1) : Math.round(fraction + 1).toLocaleString("en-GB")}`;
  const percent = Math.round(fraction * 100);
  if (percent === 0) return "±0\u00a0%";
  return `${percent > 0 ? "+" : "−"}${Math.abs(percent)}\u00a0%`;
}

/** A share of something, if there was anything. */
export const share = (part: number | null | undefined, whole: number | null | undefined): number | undefined =>
  whole ? (part ?? 0) / whole : undefined;

/** Of jobs that ended: how many well. Those that somebody cancelled count for neither. */
export function successRate(figure: Pick<Figure, "succeeded" | "dead">): number | undefined {
  return share(figure.succeeded, (figure.succeeded ?? 0) + (figure.dead ?? 0));
}

export type Drain =
  | { state: "empty" }
  /** Jobs whose queue is paused, or for which there is no worker. */
  | { state: "stuck"; jobs: number }
  | { state: "unknown" }
  /** Jobs that come beyond those that end, per second. */
  | { state: "growing"; perSecond: number }
  | { state: "steady" }
  | { state: "draining"; ms: number };

/** How long the backlog lasts at the rates of the last minutes. What cannot start does not drain, whatever the rate of the others. */
export function drainOf(ready: number, cannotStart: number, comes: number | undefined, ends: number | undefined): Drain {
  if (ready === 0) return { state: "empty" };
  if (cannotStart > 0) return { state: "stuck", jobs: cannotStart };
  if (comes === undefined || ends === undefined) return { state: "unknown" };
  const net = ends - comes;
  if (net > 1e-9) return { state: "draining", ms: (ready / net) * 1000 };
  if (net < -1e-9) return { state: "growing", perSecond: -net };
  return { state: "steady" };
}

/** Lines by their name. */
export function byName(data: Timeseries | undefined): Map<string, Line> {
  return new Map((data?.series ?? []).flatMap((line) => (line.name ? [[line.name, line] as const] : [])));
}
