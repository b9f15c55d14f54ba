/** The figures of each kind, put together from what was asked for once for all of them. Pure. */
import { byName, type Figure, successRate, type Timeseries } from "./figures";

export interface KindFigures {
  kind: string;
  ended: number;
  points: number[];
  success: number | undefined;
  wait: Figure | undefined;
  run: Figure | undefined;
  /** Of an attempt, from when it was due to its end: wait and run together. */
  totalMs: number | undefined;
}

export function kindFigures(ended: Timeseries | undefined, wait: Timeseries | undefined, run: Timeseries | undefined): KindFigures[] {
  const [ends, waits, runs] = [byName(ended), byName(wait), byName(run)];
  return [...new Set([...ends.keys(), ...waits.keys(), ...runs.keys()])].map((kind) => {
    const waited = waits.get(kind)?.total;
    const ran = runs.get(kind)?.total;
    const line = ends.get(kind);
    return {
      kind,
      ended: line?.total.count ?? 0,
      points: line?.points.slice(0, -1).map((point) => point.count) ?? [],
      success: line && successRate(line.total),
      wait: waited,
      run: ran,
      totalMs: waited?.mean_ms == null || ran?.mean_ms == null ? undefined : waited.mean_ms + ran.mean_ms,
    };
  });
}

export const SORTS = {
  kind: (row: KindFigures) => row.kind,
  ended: (row: KindFigures) => row.ended,
  success: (row: KindFigures) => row.success,
  wait50: (row: KindFigures) => row.wait?.p50_ms,
  wait95: (row: KindFigures) => row.wait?.p95_ms,
  run50: (row: KindFigures) => row.run?.p50_ms,
  run95: (row: KindFigures) => row.run?.p95_ms,
  run99: (row: KindFigures) => row.run?.p99_ms,
  total: (row: KindFigures) => row.totalMs,
} as const satisfies Record<string, (row: KindFigures) => string | number | null | undefined>;
export type SortKey = keyof typeof SORTS;

/** By that figure; what is not known is last whichever way, and `_other` is last of all. */
export function sorted(rows: readonly KindFigures[], key: SortKey, descending: boolean): KindFigures[] {
  const value = SORTS[key];
  return [...rows].sort((a, b) => {
    if ((a.kind === "_other") !== (b.kind === "_other")) return a.kind === "_other" ? 1 : -1;
    const [x, y] = [value(a), value(b)];
    if (x == null || y == null) return x == null ? (y == null ? a.kind.localeCompare(b.kind) : 1) : -1;
    const order = typeof x === "string" || typeof y === "string" ? String(x).localeCompare(String(y)) : x - y;
    return (descending ? -order : order) || a.kind.localeCompare(b.kind);
  });
}
