/** The lanes in which jobs wait, the worst first. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { CirclePause, CirclePlay } from "lucide-react";
import { useMemo, useState } from "react";
import { may, queues, timeseries, whoami } from "@/api/queries";
import type { Queue, Who } from "@/api/types";
import { Button, type Column, CliLine, Duration, EmptyState, formatPercent, Num, PageHeader, Rate, Sparkline, useNow, VirtualTable } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";
import { Mark, StateBar } from "@/pages/glyphs";
import { QueueConfirm, useResume } from "@/pages/queue/actions";
import { badness, ratesOf, recentRate, settled } from "@/pages/queue/flow";
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
  const now = Math.floor(useNow() / 10_000) * 10_000;
  const flows = useMemo(
    () =>
      new Map(
        (series.data?.series ?? []).map((each) => {
          const rates = ratesOf(settled(each.points, now), (point) => point.count);
          const { count, dead } = each.total;
          return [each.name ?? "", { rates, perSecond: recentRate(rates), failed: count > 0 ? (dead ?? 0) / count : undefined }];
        }),
      ),
    [series.data, now],
  );
  const rows = useMemo<Row[]>(() => {
    const all = (list.data?.items ?? [])
      .filter((queue) => queue.queue.toLowerCase().includes(typed.trim().toLowerCase()))
      .map((queue): Row => Object.assign({ flow: flows.get(queue.queue) }, queue));
    return all.sort((a, b) => (sort === "worst" ? badness(b) - badness(a) : 0) || a.queue.localeCompare(b.queue));
  }, [list.data, flows, typed, sort]);
  const columns = columnsOf(range.label, who, (queue) => setAsked({ verb: "pause", queue }), (queue) => void resume(queue));
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
function columnsOf(range: string, who: Who | undefined, onPause: (queue: Queue) => void, onResume: (queue: string) => void): readonly Column<Row>[] {
  return [
    { id: "queue", header: "Queue", width: "minmax(120px,1.4fr)", cell: (row) => <Link to="/queues/$queue" params={{ queue: row.queue }}>{row.queue}</Link> },
    { id: "state", header: "State", width: "110px", cell: (row) => <Mark tone={stateOf(row).tone}>{stateOf(row).word}</Mark> },
    { id: "bar", header: "Holds", width: "minmax(70px,1fr)", notOnCard: true, cell: (row) => <StateBar counts={row.jobs} /> },
    { id: "ready", header: "Ready", width: "56px", align: "right", cell: (row) => <Labelled name="ready"><Num value={row.jobs.queued} unit="jobs" /></Labelled> },
    { id: "oldest", header: "Oldest", width: "76px", align: "right", notOnCard: true, cell: (row) => <Duration ms={row.oldest_ready_ms} /> },
    { id: "running", header: "Running", width: "56px", align: "right", cell: (row) => <Labelled name="running"><Num value={row.jobs.running} unit="jobs" /></Labelled> },
    { id: "dead", header: "Dead", width: "48px", align: "right", notOnCard: true, cell: (row) => <Num value={row.jobs.dead} unit="jobs" /> },
    {
      id: "flow",
      header: `Finished, ${range.toLowerCase()}`,
      width: "158px",
      notOnCard: true,
      cell: (row) => (
        <span className="flex items-center gap-3">
          <Sparkline values={row.flow?.rates ?? []} width={88} height={20} label={`Finished jobs of ${row.queue} over time`} className="stroke-succeeded" />
          <Rate perSecond={row.flow?.perSecond} />
        </span>
      ),
    },
    { id: "failed", header: "Failed", width: "48px", align: "right", notOnCard: true, cell: (row) => formatPercent(row.flow?.failed) },
    { id: "limits", header: "Limits", width: "minmax(80px,1fr)", notOnCard: true, cell: (row) => <span className="text-muted">{limitsInWords(row) || "none"}</span> },
    { id: "workers", header: "Workers", width: "52px", align: "right", notOnCard: true, cell: (row) => <Num value={row.workers} unit="workers" /> },
    ...(who?.permissions.includes("settings")
      ? [
          {
            id: "do",
            header: <span className="sr-only">Actions</span>,
            width: "88px",
            align: "right" as const,
            notOnCard: true,
            cell: (row: Row) =>
              !may(who, "settings", row.queue) ? null : row.paused || row.draining ? (
                <Button small look="quiet" icon={<CirclePlay size={13} />} aria-label={`Resume ${row.queue}`} onClick={() => onResume(row.queue)}>
                  Resume
                </Button>
              ) : (
                <Button small look="quiet" icon={<CirclePause size={13} />} aria-label={`Pause ${row.queue}`} onClick={() => onPause(row)}>
                  Pause
                </Button>
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
