/** How much gets done, how well, and how long it takes: over the page's time range, for everything or for one kind or queue. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { X } from "lucide-react";
import { useMemo } from "react";
import { kindCounts, timeseries } from "@/api/queries";
import { Button, formatCount, formatDuration, formatPercent, formatRate, PageHeader, Panel, Skeleton } from "@/design";
import { Chart, type Series } from "@/design/Chart";
import { Loaded } from "@/pages/data";
import { stepOf, useTimeRange } from "@/shell/range";
import { type Point, ratesOf, settled, stepSeconds, successRate, timesOf } from "./figures";
import { KindTable } from "./KindTable";

const route = getRouteApi("/analytics");

/** What all charts of the page are asked for. */
export interface Over {
  from: string;
  to: string;
  step: string;
  kind?: string;
  queue?: string;
}

export default function Analytics() {
  const { kind, queue } = route.useSearch();
  const range = useTimeRange();
  const iso = (at: number) => new Date(at).toISOString();
  const over: Over = { from: iso(range.from), to: iso(range.to), step: stepOf(range), ...(kind && { kind }), ...(queue && { queue }) };
  return (
    <>
      <PageHeader title="Analytics" actions={<Filters kind={kind} queue={queue} />}>
        {range.label}, in steps of {over.step === "1440m" ? "1 d" : formatDuration(stepSeconds(over.step) * 1000)}. Drag over a chart to look closer, double-click to go back.
      </PageHeader>
      <div className="flex flex-col gap-4">
        <Totals over={over} />
        <div className="grid grid-cols-2 gap-4 max-md:grid-cols-1">
          <Throughput over={over} />
          <Success over={over} />
          <Percentiles metric="wait" title="Wait time" over={over} />
          <Percentiles metric="run" title="Run, per attempt" over={over} />
          <Percentiles metric="total" title="Total time" over={over} wide />
        </div>
        <KindTable over={over} chosen={kind} />
      </div>
    </>
  );
}

function Filters({ kind, queue }: { kind: string | undefined; queue: string | undefined }) {
  const navigate = useNavigate();
  const pairs = useQuery(kindCounts()).data ?? [];
  const options = (values: string[], chosen: string | undefined) => [...new Set([...values, ...(chosen ? [chosen] : [])])].sort();
  const choose = (change: { kind?: string | undefined; queue?: string | undefined }) => void navigate({ to: "/analytics", search: (before) => ({ ...before, ...change }) });
  return (
    <>
      <select className="field max-w-56" aria-label="Kind" value={kind ?? ""} onChange={(event) => choose({ kind: event.target.value || undefined })}>
        <option value="">Every kind</option>
        {options(pairs.map((pair) => pair.kind), kind).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <select className="field max-w-56" aria-label="Queue" value={queue ?? ""} onChange={(event) => choose({ queue: event.target.value || undefined })}>
        <option value="">Every queue</option>
        {options(pairs.map((pair) => pair.queue), queue).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      {kind || queue ? <Button look="quiet" icon={<X size={14} />} aria-label="Show everything" onClick={() => choose({ kind: undefined, queue: undefined })} /> : null}
    </>
  );
}

/** Everything of the range, as one line of figures. */
function Totals({ over }: { over: Over }) {
  const ended = useQuery(timeseries({ metric: "throughput", ...over })).data?.series[0]?.total;
  const wait = useQuery(timeseries({ metric: "wait", ...over })).data?.series[0]?.total;
  const run = useQuery(timeseries({ metric: "run", ...over })).data?.series[0]?.total;
  const total = useQuery(timeseries({ metric: "total", ...over })).data?.series[0]?.total;
  const items = [
    ["Jobs ended", ended && formatCount(ended.count)],
    ["Succeeded", ended && formatPercent(successRate(ended))],
    ["Wait, p50", wait && formatDuration(wait.p50_ms)],
    ["Wait, p95", wait && formatDuration(wait.p95_ms)],
    ["Run, p50", run && formatDuration(run.p50_ms)],
    ["Run, p95", run && formatDuration(run.p95_ms)],
    ["Total, p50", total && formatDuration(total.p50_ms)],
    ["Total, p95", total && formatDuration(total.p95_ms)],
  ] as const;
  return (
    <dl className="grid grid-cols-8 gap-px overflow-hidden rounded border border-line bg-line max-md:grid-cols-4 max-sm:grid-cols-2">
      {items.map(([name, value]) => (
        <div key={name} className="bg-surface px-3 py-2">
          <dt className="text-12 text-muted">{name}</dt>
          <dd className="text-20 font-medium whitespace-nowrap">{value ?? <Skeleton className="h-5 w-16" />}</dd>
        </div>
      ))}
    </dl>
  );
}

function Throughput({ over }: { over: Over }) {
  const range = useTimeRange();
  const query = useQuery(timeseries({ metric: "throughput", ...over }));
  const now = query.dataUpdatedAt;
  const { times, series } = useMemo(() => {
    const points = settled(query.data, now);
    const step = stepSeconds(query.data?.step ?? "1m");
    const line = (label: string, colour: string, pick: (point: Point) => number): Series => ({ label, colour, kind: "area", values: ratesOf(points, step, now, pick) });
    return {
      times: timesOf(points),
      series: [line("Succeeded", "succeeded", (point) => point.succeeded ?? 0), line("Cancelled", "cancelled", (point) => point.cancelled ?? 0), line("Dead", "dead", (point) => point.dead ?? 0)],
    };
  }, [query.data, now]);
  return (
    <Panel title="Throughput" aside={query.data && !query.data.scan.complete ? "The oldest part is missing" : null}>
      <div className="p-3 pt-1.5">
        <Loaded query={query} rows={5}>
          {() => <Chart title="Jobs that ended, per second" times={times} series={series} format={formatRate} onZoom={range.zoom} onReset={range.reset} />}
        </Loaded>
      </div>
    </Panel>
  );
}

function Success({ over }: { over: Over }) {
  const range = useTimeRange();
  const query = useQuery(timeseries({ metric: "throughput", ...over }));
  const now = query.dataUpdatedAt;
  const { times, series } = useMemo(() => {
    const points = settled(query.data, now);
    const values = points.map((point) => successRate(point) ?? null);
    return { times: timesOf(points), series: [{ label: "Succeeded", colour: "succeeded", kind: "line", values } satisfies Series] };
  }, [query.data, now]);
  return (
    <Panel title="Success rate, of jobs that succeeded or died">
      <div className="p-3 pt-1.5">
        <Loaded query={query} rows={5}>
          {() => <Chart title="Success rate" times={times} series={series} format={formatPercent} onZoom={range.zoom} onReset={range.reset} />}
        </Loaded>
      </div>
    </Panel>
  );
}

function Percentiles({ metric, title, over, wide = false }: { metric: "wait" | "run" | "total"; title: string; over: Over; wide?: boolean }) {
  const range = useTimeRange();
  const query = useQuery(timeseries({ metric, ...over }));
  const now = query.dataUpdatedAt;
  const { times, series } = useMemo(() => {
    const points = settled(query.data, now);
    const shown: Series[] = [
      { label: "p50", colour: "running", values: points.map((point) => point.p50_ms ?? null) },
      { label: "p95", colour: "scheduled", values: points.map((point) => point.p95_ms ?? null) },
      { label: "p99", colour: "retrying", dashed: true, values: points.map((point) => point.p99_ms ?? null) },
    ];
    return { times: timesOf(points), series: shown };
  }, [query.data, now]);
  return (
    <Panel title={title} {...(wide ? { className: "md:col-span-2" } : {})}>
      <div className="p-3 pt-1.5">
        <Loaded query={query} rows={5}>
          {() => <Chart title={title} times={times} series={series} format={formatDuration} onZoom={range.zoom} onReset={range.reset} />}
        </Loaded>
      </div>
    </Panel>
  );
}
