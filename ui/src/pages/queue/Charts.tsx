/** A queue over time: how much it held, what came and went, how long jobs waited, how long they ran. */
import { useQuery } from "@tanstack/react-query";
import { timeseries } from "@/api/queries";
import type { components } from "@/api/schema";
import { FINAL, type Queue, STATES, sumOf } from "@/api/types";
import { formatCount, formatDuration, formatRate, Panel, useNow } from "@/design";
import { Chart, type Series } from "@/design/Chart";
import { Loaded, useKept } from "@/pages/data";
import { stepOf, useTimeRange } from "@/shell/range";
import { depthOf } from "./depth";
import { ratesOf, settled } from "./flow";

type Body = components["schemas"]["TimeseriesBody"];

/** The same question for everybody on the page, so that it is asked once. */
export function useQueueSeries(queue: string, metric: "throughput" | "enqueued" | "wait" | "run") {
  const { from, to } = useTimeRange();
  const iso = (at: number) => new Date(at).toISOString();
  const query = useQuery(timeseries({ metric, queue, from: iso(from), to: iso(to), step: stepOf({ from, to }) }));
  return { ...query, data: useKept(query.data) };
}

export function useSettled(body: Body | undefined) {
  // A minute is exact enough: points are at least that long.
  const now = Math.floor(useNow() / 10_000) * 10_000;
  return settled(body?.series[0]?.points ?? [], now);
}

const LIVE = STATES.filter((state) => !FINAL.includes(state));

const timesOf = (points: readonly { at: string }[]) => points.map((point) => Date.parse(point.at) / 1000);

export function Charts({ queue: shown }: { queue: Queue }) {
  const { queue } = shown;
  const done = useQueueSeries(queue, "throughput");
  const came = useQueueSeries(queue, "enqueued");
  const wait = useQueueSeries(queue, "wait");
  const run = useQueueSeries(queue, "run");
  return (
    <div className="grid grid-cols-2 gap-4 max-md:grid-cols-1">
      <Panel title="Depth" aside="jobs that wait or run; replays make the past look fuller">
        <Depth queue={shown} />
      </Panel>
      <Panel title="Throughput">
        <Loaded query={done} rows={5}>
          {(data) => <Flow done={data} came={came.data} />}
        </Loaded>
      </Panel>
      <Panel title="Wait time">
        <Loaded query={wait} rows={5}>
          {(data) => <Percentiles title={`Wait in ${queue}`} body={data} />}
        </Loaded>
      </Panel>
      <Panel title="Run time">
        <Loaded query={run} rows={5}>
          {(data) => <Percentiles title={`Run time in ${queue}`} body={data} />}
        </Loaded>
      </Panel>
    </div>
  );
}

/** Whatever range is looked at, it is reckoned from now. */
function Depth({ queue: data }: { queue: Queue }) {
  const range = useTimeRange();
  const minute = Math.ceil(useNow() / 60_000) * 60_000;
  const to = range.moving ? range.to : minute;
  const iso = (at: number) => new Date(at).toISOString();
  const over = { queue: data.queue, from: iso(range.from), to: iso(to), step: stepOf({ from: range.from, to }) };
  const ended = useQuery(timeseries({ metric: "throughput", ...over }));
  const came = useQuery(timeseries({ metric: "enqueued", ...over })).data;
  return (
    <Loaded query={ended} rows={5}>
      {(body) => {
        const all = body.series[0]?.points ?? [];
        const depths = depthOf(sumOf(data.jobs, LIVE), came?.series[0]?.points ?? [], all);
        const points = all.filter((point) => Date.parse(point.at) <= range.to);
        const series: Series[] = [{ label: "Jobs", colour: "queued", kind: "area", values: depths.slice(0, points.length) }];
        return (
          <div className="px-3 pb-2">
            <Chart title={`Jobs that ${data.queue} held`} times={timesOf(points)} series={series} format={formatCount} whole height={150} onZoom={range.zoom} onReset={range.reset} />
          </div>
        );
      }}
    </Loaded>
  );
}

function Flow({ done, came }: { done: Body; came: Body | undefined }) {
  const range = useTimeRange();
  const points = useSettled(done);
  const enqueued = useSettled(came);
  const byTime = new Map(enqueued.map((point) => [point.at, point.count]));
  const series: Series[] = [
    { label: "Enqueued", colour: "accent", values: ratesOf(points, (point) => byTime.get(point.at)), dashed: true },
    { label: "Finished", colour: "succeeded", values: ratesOf(points, (point) => point.succeeded ?? 0), kind: "area" },
    { label: "Dead", colour: "dead", values: ratesOf(points, (point) => point.dead ?? 0) },
  ];
  return (
    <div className="px-3 pb-2">
      <Chart title="Enqueued, finished and dead per second" times={timesOf(points)} series={series} format={formatRate} height={150} onZoom={range.zoom} onReset={range.reset} />
    </div>
  );
}

function Percentiles({ title, body }: { title: string; body: Body }) {
  const range = useTimeRange();
  const points = useSettled(body);
  const series: Series[] = [
    { label: "p50", colour: "succeeded", values: points.map((point) => point.p50_ms ?? null) },
    { label: "p95", colour: "running", values: points.map((point) => point.p95_ms ?? null) },
    { label: "p99", colour: "retrying", values: points.map((point) => point.p99_ms ?? null) },
  ];
  return (
    <div className="px-3 pb-2">
      <Chart title={title} times={timesOf(points)} series={series} format={formatDuration} height={150} onZoom={range.zoom} onReset={range.reset} />
    </div>
  );
}
