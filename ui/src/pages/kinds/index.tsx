/** What sorts of jobs there are. The kinds of `/v1/kinds` are only those with settings; those with jobs are in the counts. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { stats } from "@/api/queries";
import { GROUPS, type Stats, sumOf } from "@/api/types";
import { type Column, EmptyState, Num, PageHeader, VirtualTable } from "@/design";
import { Loaded } from "@/pages/data";

interface Row {
  kind: string;
  queues: string[];
  waiting: number;
  running: number;
  succeeded: number;
  dead: number;
}

/** One row for each kind, over all its queues. */
export function byKind(counts: Stats["by_kind"]): Row[] {
  const rows = new Map<string, Row>();
  for (const { kind, queue, jobs } of counts) {
    const row = rows.get(kind) ?? { kind, queues: [], waiting: 0, running: 0, succeeded: 0, dead: 0 };
    row.queues.push(queue);
    row.waiting += sumOf(jobs, GROUPS.waiting);
    row.running += sumOf(jobs, GROUPS.active);
    row.succeeded += sumOf(jobs, GROUPS.done);
    row.dead += sumOf(jobs, GROUPS.failed);
    rows.set(kind, row);
  }
  return [...rows.values()].sort((a, b) => a.kind.localeCompare(b.kind));
}

const columns: readonly Column<Row>[] = [
  { id: "kind", header: "Kind", width: "minmax(160px,1fr)", cell: (row) => <Link to="/jobs" search={{ q: `kind:${row.kind}` }}>{row.kind}</Link> },
  { id: "queues", header: "Queues", width: "minmax(120px,1fr)", cell: (row) => row.queues.join(", ") },
  { id: "waiting", header: "Waiting", width: "90px", align: "right", cell: (row) => <Num value={row.waiting} unit="jobs" /> },
  { id: "running", header: "Running", width: "90px", align: "right", cell: (row) => <Num value={row.running} unit="jobs" /> },
  { id: "succeeded", header: "Succeeded", width: "90px", align: "right", cell: (row) => <Num value={row.succeeded} unit="jobs" /> },
  { id: "dead", header: "Dead", width: "90px", align: "right", cell: (row) => <Num value={row.dead} unit="jobs" /> },
];

export default function Kinds() {
  const query = useQuery(stats());
  return (
    <>
      <PageHeader title="Kinds" />
      <Loaded query={query}>
        {(data) => {
          const rows = byKind(data.by_kind);
          return rows.length === 0 ? (
            <EmptyState title="No kind is known yet">A kind is listed as soon as there is a job of it.</EmptyState>
          ) : (
            <VirtualTable label="Kinds" rows={rows} rowId={(row) => row.kind} columns={columns} />
          );
        }}
      </Loaded>
    </>
  );
}
