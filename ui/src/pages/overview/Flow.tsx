/** What comes in and what gets done, on one axis. The shaded gap between the two is how the backlog grows, or shrinks. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { timeseries } from "@/api/queries";
import { formatRate, Panel } from "@/design";
import { Chart, type Series } from "@/design/Chart";
import { pointsOf, ratesOf, settled, stepSeconds, timesOf } from "@/pages/analytics/figures";
import { Loaded, useKept } from "@/pages/data";
import { stepOf, useTimeRange } from "@/shell/range";
import { useHappened } from "./happened";

/** By the places of the series: more came than ended, and the other way round. */
const BANDS = [
  { upper: 0, lower: 1, colour: "retrying" },
  { upper: 1, lower: 0, colour: "succeeded" },
] as const;

function useChart(metric: "enqueued" | "throughput" | "failures", over: { from: string; to: string; step: string }) {
  const query = useQuery(timeseries({ metric, ...over }));
  return { ...query, data: useKept(query.data) };
}

export function Flow() {
  const range = useTimeRange();
  const iso = (at: number) => new Date(at).toISOString();
  const over = { from: iso(range.from), to: iso(range.to), step: stepOf(range) };
  const comes = useChart("enqueued", over);
  const ends = useChart("throughput", over);
  const fails = useChart("failures", over);
  const marks = useHappened();
  // When the figures were read: the last step has lasted until then.
  const now = comes.dataUpdatedAt;
  const { times, series } = useMemo(() => {
    const points = settled(comes.data, now);
    const step = stepSeconds(comes.data?.step ?? "1m");
    // The steps of all three are the same; whichever has not been read yet is a gap.
    const rates = (data: typeof comes.data) => {
      const found = new Map(pointsOf(data).map((point) => [point.at, point]));
      return points.map(({ at }) => {
        const point = found.get(at);
        return point ? (ratesOf([point], step, now)[0] ?? null) : null;
      });
    };
    const shown: Series[] = [
      { label: "Enqueued", colour: "accent", kind: "line", values: rates(comes.data) },
      { label: "Ended", colour: "succeeded", kind: "line", values: rates(ends.data) },
      { label: "Failed attempts", colour: "dead", kind: "area", values: rates(fails.data) },
    ];
    return { times: timesOf(points), series: shown };
  }, [comes.data, ends.data, fails.data, now]);
  return (
    <Panel
      title="Throughput"
      aside={
        <span className="max-sm:hidden">
          Shaded where the backlog <span className="rounded-chip bg-retrying/20 px-1 text-text">grows</span> or <span className="rounded-chip bg-succeeded/20 px-1 text-text">shrinks</span>
        </span>
      }
    >
      <div className="p-3 pt-1.5">
        <Loaded query={comes} rows={5}>
          {() => <Chart title="Jobs enqueued and ended, and failed attempts, per second" times={times} series={series} bands={BANDS} marks={marks} format={formatRate} height={200} onZoom={range.zoom} onReset={range.reset} />}
        </Loaded>
        {ends.error ?? fails.error ? (
          <p role="alert" className="pt-1 text-12">
            A line is missing: {String((ends.error ?? fails.error)?.message)}
          </p>
        ) : null}
      </div>
    </Panel>
  );
}
