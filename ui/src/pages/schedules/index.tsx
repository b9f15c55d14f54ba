/** Rules that submit a job at every instant they name. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useMemo, useState } from "react";
import { api } from "@/api/client";
import { schedules, useMay } from "@/api/queries";
import type { Job, Schedule, State } from "@/api/types";
import { Button, CliLine, type Column, EmptyState, PageHeader, StateIcon, Time, VirtualTable } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";
import { Mark, type Tone } from "@/pages/glyphs";
import { Editor } from "@/pages/schedule/Editor";
import { ruleInEnglish, ruleOf } from "@/pages/schedule/english";
import { inWords, lastResults } from "./results";

function stateOf({ paused, status }: Schedule): [Tone, string] {
  if (paused) return ["warn", "paused"];
  if ((status?.overdue_ms ?? 0) > 0) return ["bad", "overdue"];
  if (status?.waiting) return ["plain", "one waits"];
  if (status?.live.length) return ["well", "runs"];
  return status?.next ? ["well", "on"] : ["plain", "over"];
}

/** The last jobs of all schedules in one question; of a schedule that fires seldom among many they may be too far back. */
const lastJobs = {
  queryKey: ["jobs", "of-schedules"],
  queryFn: ({ signal }: { signal: AbortSignal }) => api.get("/v1/jobs", { query: { q: "schedule:*", limit: 500 }, signal }),
  staleTime: 15_000,
  refetchInterval: 30_000,
} as const;

function Results({ states }: { states: readonly State[] | undefined }) {
  if (!states) return <span className="text-muted">—</span>;
  return (
    <span role="img" aria-label={`The last ${states.length}: ${inWords(states)}`} title={inWords(states)} className="flex items-center gap-px">
      {states.map((state, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- a place in a row of marks is what it is
        <StateIcon key={index} state={state} size={11} />
      ))}
    </span>
  );
}

/** What happens if the last job is not over, and if nobody was there to fire. */
function Policy({ row }: { row: Schedule }) {
  const words = `${row.overlap} / ${row.misfire}`.replaceAll("_", " ");
  return (
    <span className="text-muted" title={words}>
      {words}
    </span>
  );
}

const columnsOf = (results: ReadonlyMap<string, readonly State[]>): readonly Column<Schedule>[] => [
  { id: "name", header: "Name", width: "minmax(130px,1.3fr)", cell: (row) => <Link to="/schedules/$name" params={{ name: row.name }} title={row.name}>{row.name}</Link> },
  { id: "state", header: "State", width: "76px", cell: (row) => <Mark tone={stateOf(row)[0]}>{stateOf(row)[1]}</Mark> },
  { id: "english", header: "Fires", width: "minmax(190px,1.9fr)", cell: (row) => <span title={ruleInEnglish(row)}>{ruleInEnglish(row)}</span> },
  { id: "rule", header: "Rule", width: "92px", notOnCard: true, cell: (row) => <code className="text-12 text-muted">{ruleOf(row)}</code> },
  { id: "next", header: "Next", width: "80px", time: true, cell: (row) => <Time at={row.paused ? undefined : row.status?.next} fallback={row.paused ? "—" : "never"} /> },
  { id: "results", header: "Last results", width: "100px", notOnCard: true, cell: (row) => <Results states={results.get(row.name)} /> },
  { id: "kind", header: "Kind", width: "minmax(110px,1.2fr)", notOnCard: true, cell: (row) => <span title={row.job.kind}>{row.job.kind}</span> },
  { id: "queue", header: "Queue", width: "minmax(72px,0.9fr)", notOnCard: true, cell: (row) => <span title={row.job.queue ?? "default"}>{row.job.queue ?? "default"}</span> },
  { id: "policy", header: "Overlap / if missed", width: "124px", notOnCard: true, cell: (row) => <Policy row={row} /> },
];

export default function Schedules() {
  const list = useInfiniteQuery(schedules());
  const navigate = useNavigate();
  const may = useMay("schedule", "*");
  const [making, setMaking] = useState(false);
  useLiveQueries(["schedule"], [["schedules"]]);
  const rows = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? [], [list.data]);
  const last = useQuery(lastJobs).data?.items as readonly Job[] | undefined;
  const columns = useMemo(() => columnsOf(lastResults(last ?? [])), [last]);
  const make = may ? (
    <Button look="primary" icon={<Plus size={14} />} onClick={() => setMaking(true)}>
      New schedule
    </Button>
  ) : null;
  return (
    <>
      <PageHeader title="Schedules" actions={rows.length > 0 ? make : null} />
      <Loaded query={list}>
        {() =>
          rows.length === 0 ? (
            <EmptyState title="There is no schedule yet" action={<div className="flex max-w-full flex-col items-center gap-4">{make}<CliLine command="ganger schedule create heartbeat --every 15m --kind noop" /></div>}>
              A schedule submits a job by the calendar, again and again, or once. It survives restarts, and never fires an instant twice.
            </EmptyState>
          ) : (
            <VirtualTable
              label="Schedules"
              rows={rows}
              rowId={(row) => row.name}
              columns={columns}
              tint={(row) => stateOf(row)[1]}
              onOpen={(row) => void navigate({ to: "/schedules/$name", params: { name: row.name } })}
              onEnd={() => {
                if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
              }}
              loadingMore={list.isFetchingNextPage}
            />
          )
        }
      </Loaded>
      {making ? <Editor onClose={() => setMaking(false)} /> : null}
    </>
  );
}
