/** The same figures for each kind, to be sorted by any of them. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowDown, ArrowUp } from "lucide-react";
import { useMemo, useState } from "react";
import { timeseries } from "@/api/queries";
import { Duration, formatPercent, Num, Panel, Sparkline } from "@/design";
import { Loaded } from "@/pages/data";
import type { Over } from "./index";
import { kindFigures, type SortKey, sorted } from "./kindRows";

const HEADS: readonly (readonly [SortKey, string, string])[] = [
  ["kind", "Kind", ""],
  ["ended", "Ended", ""],
  ["success", "Succeeded", ""],
  ["wait50", "Wait p50", "max-md:hidden"],
  ["wait95", "Wait p95", "max-sm:hidden"],
  ["run50", "Run p50", "max-md:hidden"],
  ["run95", "Run p95", ""],
  ["run99", "Run p99", "max-lg:hidden"],
  ["total50", "Total p50", "max-md:hidden"],
  ["total95", "Total p95", "max-sm:hidden"],
  ["total99", "Total p99", "max-lg:hidden"],
];

export function KindTable({ over, chosen }: { over: Over; chosen: string | undefined }) {
  const { kind: _, ...all } = over;
  const by = { ...all, by: "kind" } as const;
  const ended = useQuery(timeseries({ metric: "throughput", ...by }));
  const wait = useQuery(timeseries({ metric: "wait", ...by })).data;
  const run = useQuery(timeseries({ metric: "run", ...by })).data;
  const total = useQuery(timeseries({ metric: "total", ...by })).data;
  const [sort, setSort] = useState<{ key: SortKey; descending: boolean }>({ key: "ended", descending: true });
  const rows = useMemo(() => sorted(kindFigures(ended.data, wait, run, total), sort.key, sort.descending), [ended.data, wait, run, total, sort]);
  const press = (key: SortKey) => setSort((before) => (before.key === key ? { key, descending: !before.descending } : { key, descending: key !== "kind" }));
  return (
    <Panel title="By kind" aside={<span className="max-sm:hidden">Percentiles are estimates, off by less than a factor of two; counts and means are exact</span>}>
      <Loaded query={ended} rows={4}>
        {() =>
          rows.length === 0 ? (
            <p className="px-3 py-8 text-center text-muted">Nothing ran in this range.</p>
          ) : (
            <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="Figures by kind">
              <table className="w-full">
                <thead className="text-12 text-muted">
                  <tr className="border-b border-line">
                    {HEADS.map(([key, label, hide]) => (
                      <th key={key} aria-sort={sort.key === key ? (sort.descending ? "descending" : "ascending") : undefined} className={`px-3 py-1 font-medium ${key === "kind" ? "text-left" : "text-right"} ${hide}`}>
                        <button type="button" className="inline-flex min-h-6 items-center gap-1 whitespace-nowrap hover:text-text" onClick={() => press(key)}>
                          {label}
                          {sort.key === key ? sort.descending ? <ArrowDown size={12} aria-hidden="true" /> : <ArrowUp size={12} aria-hidden="true" /> : null}
                        </button>
                      </th>
                    ))}
                    <th className="px-3 py-1 text-left font-medium max-md:hidden">Ended over time</th>
                  </tr>
                </thead>
                <tbody>
                  {rows.map((row) => (
                    <tr key={row.kind} className={`h-(--row) border-b border-line last:border-0 hover:bg-raised ${row.kind === chosen ? "bg-accent/8" : ""}`}>
                      <td className="max-w-48 truncate px-3">
                        {row.kind === "_other" ? (
                          <span className="text-muted">all other kinds</span>
                        ) : (
                          <Link to="/analytics" search={(before) => ({ ...before, kind: row.kind === chosen ? undefined : row.kind })} className="quiet-link" aria-current={row.kind === chosen ? "true" : undefined}>
                            {row.kind}
                          </Link>
                        )}
                      </td>
                      <td className="px-3 text-right">
                        <Num value={row.ended} unit="jobs" />
                      </td>
                      <td className="px-3 text-right">{formatPercent(row.success)}</td>
                      <td className="px-3 text-right whitespace-nowrap max-md:hidden">
                        <Duration ms={row.wait?.p50_ms} />
                      </td>
                      <td className="px-3 text-right whitespace-nowrap max-sm:hidden">
                        <Duration ms={row.wait?.p95_ms} />
                      </td>
                      <td className="px-3 text-right whitespace-nowrap max-md:hidden">
                        <Duration ms={row.run?.p50_ms} />
                      </td>
                      <td className="px-3 text-right whitespace-nowrap">
                        <Duration ms={row.run?.p95_ms} />
                      </td>
                      <td className="px-3 text-right whitespace-nowrap max-lg:hidden">
                        <Duration ms={row.run?.p99_ms} />
                      </td>
                      <td className="px-3 text-right whitespace-nowrap max-md:hidden">
                        <Duration ms={row.total?.p50_ms} />
                      </td>
                      <td className="px-3 text-right whitespace-nowrap max-sm:hidden">
                        <Duration ms={row.total?.p95_ms} />
                      </td>
                      <td className="px-3 text-right whitespace-nowrap max-lg:hidden">
                        <Duration ms={row.total?.p99_ms} />
                      </td>
                      <td className="px-3 max-md:hidden">
                        <Sparkline width={104} height={20} values={row.points} label={`Jobs of ${row.kind} that ended over the range`} className="stroke-succeeded" />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
    </Panel>
  );
}
