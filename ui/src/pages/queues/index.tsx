/** Every queue, the worst first. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { CirclePause, CirclePlay } from "lucide-react";
import { useMemo, useState } from "react";
import { may, queues, timeseries, whoami } from "@/api/queries";
import type { Queue, Who } from "@/api/types";
import { Button, type Column, CliLine, Duration, EmptyState, formatPercent, Num, PageHeader, Rate, Sparkline, useNow, VirtualTable } from "@/design";
import { useIsWide } from "@/design/media";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";
import { Mark, StateBar } from "@/pages/glyphs";
import { QueueConfirm, useResume } from "@/pages/queue/actions";
import { badness, ratesOf, recentRate, settled, stepMs } from "@/pages/queue/flow";
import { limitsInWords } from "@/pages/queue/limits";
import { stepOf, useTimeRange } from "@/shell/range";

interface Flow {
  rates: readonly (number | null)[];
  perSecond: number | undefined;
  failed: number | undefined;
}
interface Row extends Queue {
  flow: Flow | undefined;
}

export function stateOf(queue: Queue): { tone: "well" | "warn" | "bad" | "plain"; word: string } {
  if (queue.draining) return { tone: "warn", word: queue.paused ? "paused, draining" : "draining" };
  if (queue.paused) return { tone: "warn", word: "paused" };
  if (queue.workers === 0) return (queue.jobs.queued ?? 0) > 0 ? { tone: "bad", word: "no worker" } : { tone: "plain", word: "no worker" };
  return { tone: "well", word: "open" };
}

export default function Queues() {
  const list = useQuery(queues());
  const who = useQuery(whoami()).data;
  const navigate = useNavigate();
  const range = useTimeRange();
  const iso = (at: number) => new Date(at).toISOString();
  const series = useQuery(timeseries({ metric: "throughput", by: "queue", from: iso(range.from), to: iso(range.to), step: stepOf(range) }));
  useLiveQueries(["counts", "queue"], [["queues"]]);
  const [sort, setSort] = useState<"worst" | "name">("worst");
  const [typed, setTyped] = useState("");
  const [asked, setAsked] = useState<{ verb: "pause"; queue: Queue }>();
  const resume = useResume();
  const wide = useIsWide();
  const now = Math.floor(useNow() / 10_000) * 10_000;
  const flows = useMemo(
    () =>
      new Map(
        (series.data?.series ?? []).map((each) => {
          const rates = ratesOf(settled(each.points, now), (point) => point.count);
          const { count, dead } = each.total;
          return [each.name ?? "", { rates, perSecond: recentRate(rates, stepMs(each.points)), failed: count > 0 ? (dead ?? 0) / count : undefined }];
        }),
      ),
    [series.data, now],
  );
  const rows = useMemo<Row[]>(() => {
    const all = (list.data?.items ?? [])
      .filter((queue) => queue.queue.toLowerCase().includes(typed.trim().toLowerCase()))
      .map((queue): Row => Object.assign({ flow: flows.get(queue.queue) }, queue));
    return all.sort((a, b) => (sort === "worst" ? badness(b, b.flow?.failed) - badness(a, a.flow?.failed) : 0) || a.queue.localeCompare(b.queue));
  }, [list.data, flows, typed, sort]);
  const columns = columnsOf(range.label, wide, who, (queue) => setAsked({ verb: "pause", queue }), (queue) => void resume(queue));
  return (
    <>
      <PageHeader title="Queues" />
      <Loaded query={list}>
        {(data) =>
          data.items.length === 0 ? (
            <EmptyState title="There is no queue yet" action={<CliLine command="ganger enqueue noop --queue mail" />}>
              A queue exists as soon as a job names it or somebody sets it up.
            </EmptyState>
          ) : (
            <>
              <div className="flex flex-wrap items-center gap-3 pb-3">
                <input data-page-search type="search" className="field w-64 max-w-full" aria-label="Find a queue by name" placeholder="Find a queue" value={typed} onChange={(event) => setTyped(event.target.value)} />
                <label className="flex items-center gap-2 text-muted">
                  Order
                  <select className="field" value={sort} onChange={(event) => setSort(event.target.value as "worst" | "name")}>
                    <option value="worst">worst first</option>
                    <option value="name">by name</option>
                  </select>
                </label>
                <span className="ml-auto text-12 text-muted">
                  <Num value={rows.length} /> of <Num value={data.items.length} unit="queues" />
                </span>
              </div>
              {rows.length === 0 ? (
                <EmptyState title={`No queue has “${typed}” in its name`} action={<Button onClick={() => setTyped("")}>Show all {data.items.length} queues</Button>} />
              ) : (
                <VirtualTable label="Queues" steady={sort === "worst"} rows={rows} rowId={(row) => row.queue} columns={columns} tint={(row) => stateOf(row).word} onOpen={(row) => void navigate({ to: "/queues/$queue", params: { queue: row.queue } })} />
              )}
            </>
          )
        }
      </Loaded>
      <QueueConfirm asked={asked} onClose={() => setAsked(undefined)} />
    </>
  );
}

/** What is shown of each queue; actions only to those who may. */
function columnsOf(range: string, wide: boolean, who: Who | undefined, onPause: (queue: Queue) => void, onResume: (queue: string) => void): readonly Column<Row>[] {
  return [
    { id: "queue", header: "Queue", width: "minmax(120px,1.4fr)", sortBy: (row) => row.queue, cell: (row) => <Link to="/queues/$queue" params={{ queue: row.queue }}>{row.queue}</Link> },
    { id: "state", header: "State", width: "110px", sortBy: (row) => stateOf(row).word, cell: (row) => <Mark tone={stateOf(row).tone}>{stateOf(row).word}</Mark> },
    ...(wide ? [{ id: "bar", header: "Jobs", width: "minmax(70px,1fr)", notOnCard: true, cell: (row: Row) => <StateBar counts={row.jobs} /> }] : []),
    { id: "ready", header: "Ready", width: "64px", align: "right", sortBy: (row) => row.jobs.queued, cell: (row) => <Labelled name="ready"><Num value={row.jobs.queued} unit="jobs" /></Labelled> },
    { id: "oldest", header: "Oldest", width: "76px", align: "right", notOnCard: true, sortBy: (row) => row.oldest_ready_ms, cell: (row) => <Duration ms={row.oldest_ready_ms} /> },
    { id: "running", header: "Running", width: "70px", align: "right", sortBy: (row) => row.jobs.running, cell: (row) => <Labelled name="running"><Num value={row.jobs.running} unit="jobs" /></Labelled> },
    { id: "dead", header: "Dead", width: "56px", align: "right", notOnCard: true, sortBy: (row) => row.jobs.dead, cell: (row) => <Num value={row.jobs.dead} unit="jobs" /> },
    {
      id: "flow",
      header: "Ended, last 5 m",
      width: "150px",
      notOnCard: true,
      sortBy: (row) => row.flow?.perSecond,
      cell: (row) => (
        <span className="flex items-center gap-3">
          <Sparkline values={row.flow?.rates ?? []} width={80} height={20} label={`Jobs of ${row.queue} that ended, ${range.toLowerCase()}`} className="stroke-succeeded" />
          <Rate perSecond={row.flow?.perSecond} />
        </span>
      ),
    },
    { id: "failed", header: <span title={`Of the jobs that ended, ${range.toLowerCase()}, those that died`}>Died</span>, width: "52px", align: "right", notOnCard: true, sortBy: (row) => row.flow?.failed, cell: (row) => formatPercent(row.flow?.failed) },
    ...(wide ? [{ id: "limits", header: "Limits", width: "minmax(80px,1fr)", notOnCard: true, cell: (row: Row) => <span className="text-muted">{limitsInWords(row) || "none"}</span> }] : []),
    { id: "workers", header: "Workers", width: "64px", align: "right", notOnCard: true, sortBy: (row) => row.workers, cell: (row) => <Num value={row.workers} unit="workers" /> },
    ...(who?.permissions.includes("settings")
      ? [
          {
            id: "do",
            header: <span className="sr-only">Actions</span>,
            width: "28px",
            align: "right" as const,
            notOnCard: true,
            cell: (row: Row) =>
              !may(who, "settings", row.queue) ? null : row.paused || row.draining ? (
                <Button small look="quiet" icon={<CirclePlay size={15} />} title="Resume" aria-label={`Resume ${row.queue}`} onClick={() => onResume(row.queue)} />
              ) : (
                <Button small look="quiet" icon={<CirclePause size={15} />} title="Pause" aria-label={`Pause ${row.queue}`} onClick={() => onPause(row)} />
              ),
          },
        ]
      : []),
  ];
}

/** On a card there is no head of the column, so a number says what it counts. */
function Labelled({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <>
      {children} <span className="text-muted sm:hidden">{name}</span>
    </>
  );
}
