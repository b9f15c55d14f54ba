import { expect, it } from "vitest";
import { change, drainOf, formatChange, halves, meanMs, type Point, ratesOf, recentRate, settled, share, stepSeconds, successRate, type Timeseries } from "./figures";
import { kindFigures, sorted } from "./kindRows";

const at = (minute: number) => new Date(Date.UTC(2026, 10, 16, 14, minute)).toISOString();
const points = (...counts: number[]): Point[] => counts.map((count, minute) => ({ at: at(minute), count }));
const series = (lines: Record<string, Partial<Point>>, metric = "throughput"): Timeseries =>
  ({ metric, step: "1m", from: at(0), to: at(1), scan: { mode: "index", examined: 1, complete: true }, series: Object.entries(lines).map(([name, total]) => ({ name, total: { count: 0, ...total }, points: [] })) }) as unknown as Timeseries;

it("reads the steps of the server", () => {
  expect(["1m", "15m", "3h", "1d", "1h30m"].map(stepSeconds)).toEqual([60, 900, 10_800, 86_400, 5400]);
});

it("leaves the minute that still runs out of a rate", () => {
  expect(recentRate(points(0, 60, 120, 3), 2)).toBe(1.5);
  expect(recentRate(points(7), 5)).toBeUndefined();
});

it("divides the last step by as much of it as has passed", () => {
  expect(ratesOf(points(60, 30), 60, Date.parse(at(1)) + 15_000)).toEqual([1, 2]);
});

it("leaves off a last step that has barely begun", () => {
  const data = { ...series({}), series: [{ total: { count: 0 }, points: points(5, 6, 0) }] } as unknown as Timeseries;
  expect(settled(data, Date.parse(at(2)) + 5000).length).toBe(2);
  expect(settled(data, Date.parse(at(2)) + 30_000).length).toBe(3);
});

it("weighs means by how many they are of", () => {
  expect(meanMs([{ at: at(0), count: 1, mean_ms: 100 }, { at: at(1), count: 3, mean_ms: 20 }])).toBe(40);
  expect(meanMs(points(0, 0))).toBeUndefined();
});

it("compares this hour with the one before, also when there is one point too many", () => {
  const { before, after } = halves(points(9, 1, 2, 3, 4));
  expect(before.map((point) => point.count)).toEqual([1, 2]);
  expect(after.map((point) => point.count)).toEqual([3, 4]);
});

it("tells a change with its sign, and nothing where there is nothing to compare with", () => {
  expect(formatChange(change(100, 112))).toBe("+12\u00a0%");
  expect(formatChange(change(100, 97))).toBe("−3\u00a0%");
  expect(formatChange(change(100, 100.2))).toBe("±0\u00a0%");
  expect(formatChange(change(10, 45))).toBe("×\u202f4.5");
  expect(formatChange(change(0, 5))).toBeUndefined();
  expect(formatChange(change(undefined, 5))).toBeUndefined();
});

it("says how long a backlog lasts, and that it grows if it does", () => {
  expect(drainOf(0, 0, 5, 1)).toEqual({ state: "empty" });
  expect(drainOf(100, 0, 1, 6)).toEqual({ state: "draining", ms: 20_000 });
  expect(drainOf(100, 7, 1, 6)).toEqual({ state: "stuck", jobs: 7 });
  expect(drainOf(100, 0, 6, 1)).toEqual({ state: "growing", perSecond: 5 });
  expect(drainOf(100, 0, 2, 2)).toEqual({ state: "steady" });
  expect(drainOf(100, 0, undefined, 2)).toEqual({ state: "unknown" });
});

it("counts neither for nor against who was cancelled", () => {
  expect(successRate({ succeeded: 9, dead: 1 })).toBe(0.9);
  expect(successRate({ succeeded: 0, dead: 0 })).toBeUndefined();
  expect(share(3, 0)).toBeUndefined();
});

it("puts the figures of a kind together, and adds means only", () => {
  const [mail] = kindFigures(series({ mail: { count: 10, succeeded: 8, dead: 2 } }), series({ mail: { count: 10, mean_ms: 5 } }), series({ mail: { count: 10, mean_ms: 20, p95_ms: 90 } }), series({ mail: { count: 10, p95_ms: 120 } }));
  expect(mail).toMatchObject({ kind: "mail", ended: 10, success: 0.8, total: { p95_ms: 120 } });
});

it("sorts with what is not known last, whichever way, and all others at the end", () => {
  const rows = kindFigures(series({ a: { count: 1 }, _other: { count: 99 }, b: { count: 5 } }), undefined, series({ b: { count: 1, p95_ms: 7 } }), undefined);
  expect(sorted(rows, "ended", true).map((row) => row.kind)).toEqual(["b", "a", "_other"]);
  expect(sorted(rows, "run95", false).map((row) => row.kind)).toEqual(["b", "a", "_other"]);
  expect(sorted(rows, "run95", true).map((row) => row.kind)).toEqual(["b", "a", "_other"]);
  expect(sorted(rows, "kind", false).map((row) => row.kind)).toEqual(["a", "b", "_other"]);
});
