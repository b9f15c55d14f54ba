/** Who runs jobs, and who no longer does. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { kindCounts, workers } from "@/api/queries";
import type { Worker } from "@/api/types";
import { Chip, CliLine, type Column, Duration, EmptyState, formatCount, Num, PageHeader, Time, VirtualTable } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { useInspector } from "@/shell/JobInspector";
import { serverUrl } from "@/base";
import { Loaded } from "@/pages/data";
import { Mark, Meter, VerdictStrip } from "@/pages/glyphs";
import { fleetOf, inOrder, isHere, skewOf, toneOf, type Unserved, unserved } from "./fleet";

const columns: readonly Column<Worker>[] = [
  { id: "name", header: "Name", width: "minmax(150px,1.2fr)", cell: (row) => <Link to="/workers/$id" params={{ id: row.id }}>{row.name}</Link> },
  { id: "state", header: "State", width: "100px", cell: (row) => <Mark tone={toneOf(row)}>{row.state}</Mark> },
  {
    id: "threads",
    header: "Threads",
    width: "170px",
    cell: (row) =>
      isHere(row) ? (
        <span className="flex items-center gap-3">
          <Meter value={row.threads_used} of={row.threads} label={`${row.threads_used} of ${row.threads} threads are used`} width="w-20" />
          <span className="whitespace-nowrap">
            {row.threads_used} of {row.threads}
          </span>
        </span>
      ) : (
        "—"
      ),
  },
  { id: "jobs", header: "Jobs", width: "56px", align: "right", notOnCard: true, cell: (row) => <Num value={row.left ? row.left.held : row.leases.length} unit="jobs" /> },
  { id: "queues", header: "Queues", width: "minmax(120px,1.8fr)", notOnCard: true, cell: (row) => <span title={row.queues.join(", ")}>{row.queues.join(", ") || "all"}</span> },
  { id: "kinds", header: "Kinds", width: "minmax(90px,1fr)", notOnCard: true, cell: (row) => <span className="text-muted" title={row.kinds.join(", ")}>{row.kinds.length === 0 ? "any" : row.kinds.length > 3 ? `${row.kinds.length} kinds` : row.kinds.join(", ")}</span> },
  { id: "version", header: "Version", width: "80px", notOnCard: true, cell: (row) => row.version || "—" },
  { id: "heard", header: "Last heartbeat", width: "104px", align: "right", notOnCard: true, cell: (row) => <Duration ms={isHere(row) ? row.silent_ms : undefined} /> },
  { id: "since", header: "Since", width: "88px", time: true, cell: (row) => <Time at={row.left?.at ?? row.opened_at} /> },
];

/** Kinds that are called by their name. */
const MOST_NAMED = 3;

/** The one thing to know about a worker, if there is one. */
function note(worker: Worker): string {
  const { left, stuck } = worker;
  if (left) return `${worker.state === "lost" ? "Lost" : "Left"}: ${left.why}. It held ${formatCount(left.held)} ${left.held === 1 ? "job" : "jobs"}.`;
  return stuck > 0 ? `${formatCount(stuck)} of its threads are stuck` : "";
}

export default function Workers() {
  const list = useQuery({ ...workers(), refetchInterval: 15_000 });
  const navigate = useNavigate();
  const inspector = useInspector();
  const pairs = useQuery(kindCounts()).data;
  useLiveQueries(["worker", "counts"], [["workers"]]);
  useLiveQueries(["counts"], [["stats", "by_kind"]]);
  const rows = useMemo(() => inOrder(list.data?.items ?? []), [list.data]);
  return (
    <>
      <PageHeader title="Workers" />
      {list.data ? <Nobody handles={unserved(pairs ?? [], list.data.items)} /> : null}
      <Loaded query={list}>
        {() =>
          rows.length === 0 ? (
            <EmptyState title="No worker is connected" action={<CliLine command={`ganger worker start --url ${serverUrl("").replace(/\/$/, "")} --threads 4`} />}>
              Jobs wait until one is. This starts one for the built-in kinds; your own kinds run in workers that are written with the Python SDK or over HTTP.
            </EmptyState>
          ) : (
            <>
              <Summary workers={rows} />
              <VirtualTable
                label="Workers"
                steady
                rows={rows}
                rowId={(row) => row.id}
                columns={columns}
                tint={(row) => row.state}
                {...(rows.some(note) ? { secondLine: note } : {})}
                openId={inspector.inspect}
                onOpen={(row) => inspector.open(row.id)}
                onOpenPage={(row) => void navigate({ to: "/workers/$id", params: { id: row.id } })}
              />
            </>
          )
        }
      </Loaded>
    </>
  );
}

/** Jobs that nobody will ever take, unless somebody does something. */
function Nobody({ handles }: { handles: readonly Unserved[] }) {
  if (handles.length === 0) return null;
  return (
    <VerdictStrip tone="bad">
      {handles.slice(0, MOST_NAMED).map(({ kind, queue, waiting }) => (
        <span key={`${kind} ${queue}`} className="font-medium">
          No worker handles {kind} in{" "}
          <Link to="/queues/$queue" params={{ queue }}>
            {queue}
          </Link>
          : {formatCount(waiting)} {waiting === 1 ? "job waits" : "jobs wait"}.
        </span>
      ))}
      {handles.length > MOST_NAMED ? <Link to="/kinds">and {formatCount(handles.length - MOST_NAMED)} more</Link> : null}
    </VerdictStrip>
  );
}

function Summary({ workers: all }: { workers: readonly Worker[] }) {
  const fleet = fleetOf(all);
  const skew = skewOf(fleet);
  return (
    <div className="mb-4 flex flex-wrap items-center gap-x-6 gap-y-2 rounded border border-line bg-surface px-4 py-2.5">
      <span className="font-medium">
        {formatCount(fleet.here)} connected
      </span>
      <span className="flex items-center gap-3">
        <Meter value={fleet.used} of={fleet.threads} label={`${fleet.used} of ${fleet.threads} threads are used`} width="w-40" />
        <span>
          {formatCount(fleet.used)} of {formatCount(fleet.threads)} threads are used
        </span>
      </span>
      {fleet.lost > 0 ? <Mark tone="bad">{`${formatCount(fleet.lost)} lost within the last hour`}</Mark> : null}
      {skew ? <Chip tone="warn">Versions differ: {skew}</Chip> : null}
    </div>
  );
}
