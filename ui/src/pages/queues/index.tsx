/** The lanes in which jobs wait. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { queues } from "@/api/queries";
import type { Queue } from "@/api/types";
import { type Column, Duration, EmptyState, Num, PageHeader, VirtualTable } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";

const columns: readonly Column<Queue>[] = [
  { id: "queue", header: "Queue", width: "minmax(160px,1fr)", cell: (row) => <Link to="/queues/$queue" params={{ queue: row.queue }}>{row.queue}</Link> },
  { id: "state", header: "State", width: "110px", cell: (row) => (row.draining ? "draining" : row.paused ? "paused" : "open") },
  { id: "ready", header: "Ready", width: "90px", align: "right", cell: (row) => <Num value={row.jobs.queued} unit="jobs" /> },
  { id: "running", header: "Running", width: "90px", align: "right", cell: (row) => <Num value={row.jobs.running} unit="jobs" /> },
  { id: "dead", header: "Dead", width: "90px", align: "right", cell: (row) => <Num value={row.jobs.dead} unit="jobs" /> },
  { id: "workers", header: "Workers", width: "90px", align: "right", cell: (row) => <Num value={row.workers} /> },
  { id: "oldest", header: "Oldest ready", width: "120px", align: "right", cell: (row) => <Duration ms={row.oldest_ready_ms} /> },
];

export default function Queues() {
  const list = useQuery(queues());
  useLiveQueries(["counts", "queue"], [["queues"]]);
  return (
    <>
      <PageHeader title="Queues" />
      <Loaded query={list}>
        {(data) => {
          const rows = data.items;
          return rows.length === 0 ? (
            <EmptyState title="There is no queue yet">A queue exists as soon as a job names it or a worker serves it.</EmptyState>
          ) : (
            <VirtualTable label="Queues" rows={rows} rowId={(row) => row.queue} columns={columns} />
          );
        }}
      </Loaded>
    </>
  );
}
