/** Who runs jobs. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { workers } from "@/api/queries";
import type { Worker } from "@/api/types";
import { type Column, Duration, EmptyState, PageHeader, Time, VirtualTable } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";

const columns: readonly Column<Worker>[] = [
  { id: "name", header: "Name", width: "minmax(180px,1fr)", cell: (row) => <Link to="/workers/$id" params={{ id: row.id }}>{row.name}</Link> },
  { id: "state", header: "State", width: "110px", cell: (row) => row.state },
  { id: "threads", header: "Threads", width: "100px", align: "right", cell: (row) => `${row.threads_used} of ${row.threads}` },
  { id: "queues", header: "Queues", width: "minmax(120px,1fr)", cell: (row) => row.queues.join(", ") || "all" },
  { id: "version", header: "Version", width: "100px", cell: (row) => row.version },
  { id: "heard", header: "Silent for", width: "100px", align: "right", cell: (row) => <Duration ms={row.silent_ms} /> },
  { id: "since", header: "Since", width: "150px", cell: (row) => <Time at={row.opened_at} /> },
];

export default function Workers() {
  const list = useQuery(workers());
  useLiveQueries(["worker"], [["workers"]]);
  return (
    <>
      <PageHeader title="Workers" />
      <Loaded query={list}>
        {(data) => {
          const rows = data.items;
          return rows.length === 0 ? (
            <EmptyState title="No worker is connected">Start one: <code>ganger worker start</code></EmptyState>
          ) : (
            <VirtualTable label="Workers" rows={rows} rowId={(row) => row.id} columns={columns} />
          );
        }}
      </Loaded>
    </>
  );
}
