/** Figures over time. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { timeseries } from "@/api/queries";
import { formatCount, PageHeader, Panel } from "@/design";
import { Chart, type Series } from "@/design/Chart";
import { Loaded } from "@/pages/data";
import { stepOf, useTimeRange } from "@/shell/range";

export default function Analytics() {
  const range = useTimeRange();
  const iso = (at: number) => new Date(at).toISOString();
  const query = useQuery(timeseries({ metric: "throughput", from: iso(range.from), to: iso(range.to), step: stepOf(range) }));
  return (
    <>
      <PageHeader title="Analytics" />
      <Panel title="Jobs that ended, per step">
        <div className="p-3">
          <Loaded query={query}>{(data) => <Throughput points={data.series[0]?.points ?? []} onZoom={range.zoom} onReset={range.reset} />}</Loaded>
        </div>
      </Panel>
    </>
  );
}

interface Point {
  at: string;
  count: number;
  succeeded?: number | null;
  dead?: number | null;
}

function Throughput({ points, onZoom, onReset }: { points: readonly Point[]; onZoom: (from: number, to: number) => void; onReset: () => void }) {
  const times = useMemo(() => points.map((point) => Date.parse(point.at) / 1000), [points]);
  const series = useMemo<Series[]>(
    () => [
      { label: "Succeeded", colour: "succeeded", kind: "area", values: points.map((point) => point.succeeded ?? null) },
      { label: "Dead", colour: "dead", kind: "area", values: points.map((point) => point.dead ?? null) },
    ],
    [points],
  );
  return <Chart title="Jobs that ended" times={times} series={series} format={formatCount} height={240} onZoom={onZoom} onReset={onReset} />;
}
