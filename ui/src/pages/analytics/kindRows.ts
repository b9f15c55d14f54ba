/** The figures of each kind, put together from what was asked for once for all of them. Pure. */
import { byName, type Figure, successRate, type Timeseries } from "./figures";

export interface KindFigures {
  kind: string;
  ended: number;
  points: number[];
  success: number | undefined;
  wait: Figure | undefined;
  run: Figure | undefined;
  /** Of jobs that ended, from intake to their end. */
  total: Figure | undefined;
}

export function kindFigures(ended: Timeseries | undefined, wait: Timeseries | undefined, run: Timeseries | undefined, total: Timeseries | undefined): KindFigures[] {
  const [ends, waits, runs, totals] = [byName(ended), byName(wait), byName(run), byName(total)];
  return [...new Set([...ends.keys(), ...waits.keys(), ...runs.keys()])].map((kind) => {
    const line = ends.get(kind);
    return {
      kind,
      ended: line?.total.count ?? 0,
      points: line?.points.slice(0, -1).map((point) => point.count) ?? [],
      success: line && successRate(line.total),
      wait: waits.get(kind)?.total,
      run: runs.get(kind)?.total,
      total: totals.get(kind)?.total,
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
  total50: (row: KindFigures) => row.total?.p50_ms,
  total95: (row: KindFigures) => row.total?.p95_ms,
  total99: (row: KindFigures) => row.total?.p99_ms,
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
