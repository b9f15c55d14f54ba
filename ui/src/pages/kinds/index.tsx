/** What sorts of jobs there are, who handles them, and how they do. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { ChartLine, Database, Ellipsis, Play, Rows3, Search } from "lucide-react";
import { useMemo, useState } from "react";
import { api } from "@/api/client";
import { kindCounts, kinds, timeseries, useMay, workers } from "@/api/queries";
import { Button, Chip, type Column, Duration, EmptyState, formatExact, formatPercent, Menu, MenuItem, MenuLine, Num, PageHeader, Sparkline, toast, Tooltip, useIsWide, VirtualTable } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { kindFigures } from "@/pages/analytics/kindRows";
import { Loaded } from "@/pages/data";
import { stepOf, useTimeRange } from "@/shell/range";
import { catalogue, isUsed, type KindRow } from "./catalogue";

export default function Kinds() {
  const range = useTimeRange();
  const iso = (at: number) => new Date(at).toISOString();
  const over = { from: iso(range.from), to: iso(range.to), step: stepOf(range), by: "kind" } as const;
  const now = useQuery(kindCounts());
  const fleet = useQuery(workers()).data?.items;
  const settings = useQuery(kinds()).data?.items;
  const ended = useQuery(timeseries({ metric: "throughput", ...over })).data;
  const wait = useQuery(timeseries({ metric: "wait", ...over })).data;
  const run = useQuery(timeseries({ metric: "run", ...over })).data;
  useLiveQueries(["worker"], [["workers"]]);
  useLiveQueries(["counts"], [["stats", "by_kind"]]);
  const [text, setText] = useState("");
  const [all, setAll] = useState(false);
  const rows = useMemo(() => catalogue(now.data, fleet, settings, kindFigures(ended, wait, run, undefined)), [now.data, fleet, settings, ended, wait, run]);
  const used = rows.filter(isUsed);
  const shown = (all || used.length === 0 ? rows : used).filter((row) => row.kind.toLowerCase().includes(text.trim().toLowerCase()));
  const mayEnqueue = useMay("enqueue");
  const columns = useColumns(mayEnqueue);
  const navigate = useNavigate();
  return (
    <>
      <PageHeader title="Kinds">What sorts of jobs there are, who handles them, and how they do. {range.label}.</PageHeader>
      <div className="flex flex-wrap items-center gap-3 pb-3">
        <div role="group" aria-label="Which kinds" className="flex gap-1">
          <Button look="quiet" aria-pressed={!all} className={all ? "" : "border-line-strong! text-text!"} onClick={() => setAll(false)}>
            Used {formatExact(used.length)}
          </Button>
          <Button look="quiet" aria-pressed={all} className={all ? "border-line-strong! text-text!" : ""} onClick={() => setAll(true)}>
            All known {formatExact(rows.length)}
          </Button>
        </div>
        <label className="relative ml-auto w-72 max-sm:w-full">
          <Search size={14} className="absolute top-2.25 left-2.5 text-muted" aria-hidden="true" />
          <span className="sr-only">Search kinds</span>
          <input className="field w-full pl-8!" type="search" placeholder="Kind" data-page-search value={text} onChange={(event) => setText(event.target.value)} />
        </label>
      </div>
      <Loaded query={now}>
        {() =>
          shown.length > 0 ? (
            <VirtualTable label="Kinds" steady rows={shown} rowId={(row) => row.kind} columns={columns} onOpen={(row) => void navigate({ to: "/analytics", search: { kind: row.kind } })} />
          ) : rows.length === 0 ? (
            <EmptyState title="No kind is known yet" action={mayEnqueue ? <Link to="/submit">Submit a job</Link> : null}>
              A kind is known as soon as a job has it or a worker handles it.
            </EmptyState>
          ) : (
            <EmptyState title={`No kind has “${text.trim()}” in its name`} action={<Button onClick={() => setText("")}>Clear the search</Button>} />
          )
        }
      </Loaded>
    </>
  );
}

/** Columns for which a narrower window has no room. */
const ONLY_WIDE = new Set(["queues", "p50", "volume"]);

function useColumns(mayEnqueue: boolean): readonly Column<KindRow>[] {
  const maySet = useMay("settings", "*");
  const wide = useIsWide();
  return useMemo(() => {
    const all: Column<KindRow>[] = [
      { id: "kind", sortBy: (row) => row.kind, header: "Kind", width: "minmax(150px,1fr)", cell: (row) => <Name row={row} /> },
      { id: "queues", header: "Queues", width: "130px", notOnCard: true, cell: (row) => <span title={row.queues.join(", ")}>{row.queues.join(", ") || <span className="text-muted">none</span>}</span> },
      { id: "live", sortBy: (row) => row.live, header: "Live", width: "52px", align: "right", cell: (row) => <Counted value={row.live} unit="live" /> },
      { id: "dead", sortBy: (row) => row.jobs["dead"] ?? 0, header: "Dead", width: "52px", align: "right", notOnCard: true, cell: (row) => <Num value={row.jobs["dead"] ?? 0} unit="dead jobs" /> },
      { id: "ended", sortBy: (row) => row.figures?.ended, header: "Ended", width: "56px", align: "right", notOnCard: true, cell: (row) => <Num value={row.figures?.ended} unit="jobs ended" /> },
      { id: "success", sortBy: (row) => row.figures?.success, header: "Succeeded", width: "76px", align: "right", notOnCard: true, cell: (row) => formatPercent(row.figures?.success) },
      { id: "p50", sortBy: (row) => row.figures?.run?.p50_ms, header: "Run p50", width: "64px", align: "right", notOnCard: true, cell: (row) => <Duration ms={row.figures?.run?.p50_ms} /> },
      { id: "p95", sortBy: (row) => row.figures?.run?.p95_ms, header: "Run p95", width: "64px", align: "right", notOnCard: true, cell: (row) => <Duration ms={row.figures?.run?.p95_ms} /> },
      { id: "volume", header: "Ended over time", width: "112px", notOnCard: true, cell: (row) => (row.figures ? <Sparkline width={104} height={20} values={row.figures.points} label={`Jobs of ${row.kind} that ended over the range`} className="stroke-succeeded" /> : null) },
      { id: "workers", sortBy: (row) => row.workers, header: "Workers", width: "58px", align: "right", notOnCard: true, cell: (row) => <Num value={row.workers} unit="workers" /> },
      { id: "actions", header: <span className="sr-only">Actions</span>, width: "64px", notOnCard: true, cell: (row) => <Actions row={row} mayEnqueue={mayEnqueue} maySet={maySet} /> },
    ];
    return all.filter((column) => wide || !ONLY_WIDE.has(column.id));
  }, [mayEnqueue, maySet, wide]);
}

/** A card has no head that would say what is counted. */
function Counted({ value, unit }: { value: number; unit: string }) {
  return (
    <>
      <Num value={value} unit={unit} />
      <span className="text-muted sm:hidden" aria-hidden="true">
        {" "}
        {unit}
      </span>
    </>
  );
}

function Name({ row }: { row: KindRow }) {
  return (
    <span className="flex items-center gap-2">
      <Link to="/jobs" search={{ q: `kind:${row.kind}` }} className={`quiet-link truncate ${row.stale ? "text-muted" : "font-medium"}`}>
        {row.kind}
      </Link>
      {row.unserved ? <Chip tone="bad">no worker</Chip> : null}
      {row.stale ? <Chip>stale</Chip> : null}
      {row.transactional ? <Chip>transactional</Chip> : null}
    </span>
  );
}

function Actions({ row, mayEnqueue, maySet }: { row: KindRow; mayEnqueue: boolean; maySet: boolean }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const set = useMutation({
    mutationFn: (transactional: boolean) => api.put("/v1/kinds/{kind}", { path: { kind: row.kind }, body: { transactional } }),
    onSuccess: (kind) => toast.done(kind.transactional ? `${row.kind} may now end its jobs in its own transaction.` : `${row.kind} is not transactional any more.`),
    onError: (thrown) => toast.failed(`Couldn't change the kind ${row.kind}`, thrown),
    onSettled: () => client.invalidateQueries({ queryKey: ["kinds"] }),
  });
  return (
    <span className="flex justify-end">
      {mayEnqueue ? (
        <Tooltip content={`Submit a job of ${row.kind}`}>
          <Button small look="quiet" icon={<Play size={14} />} aria-label={`Submit a job of ${row.kind}`} onClick={() => void navigate({ to: "/submit", search: { kind: row.kind, queue: row.queues[0] } })} />
        </Tooltip>
      ) : null}
      <Menu trigger={<Button small look="quiet" icon={<Ellipsis size={15} />} aria-label={`Actions for ${row.kind}`} />}>
        <MenuItem icon={<Rows3 size={14} />} onSelect={() => void navigate({ to: "/jobs", search: { q: `kind:${row.kind}` } })}>
          Show its jobs
        </MenuItem>
        <MenuItem icon={<ChartLine size={14} />} onSelect={() => void navigate({ to: "/analytics", search: { kind: row.kind } })}>
          Show its figures
        </MenuItem>
        {maySet ? (
          <>
            <MenuLine />
            <MenuItem icon={<Database size={14} />} onSelect={() => set.mutate(!row.transactional)}>
              {row.transactional ? "Stop ending jobs in the handler’s transaction" : "Let handlers end jobs in their own transaction"}
            </MenuItem>
          </>
        ) : null}
      </Menu>
    </span>
  );
}
