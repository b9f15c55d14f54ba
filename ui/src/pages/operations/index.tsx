/** Bulk actions: how far they are. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { operations } from "@/api/queries";
import type { Operation } from "@/api/types";
import { type Column, EmptyState, Num, PageHeader, Time, VirtualTable } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";

const columns: readonly Column<Operation>[] = [
  { id: "id", header: "Operation", width: "minmax(240px,1fr)", cell: (row) => <Link to="/operations/$id" params={{ id: row.id }}>{row.id}</Link> },
  { id: "action", header: "Action", width: "100px", cell: (row) => row.action },
  { id: "state", header: "State", width: "100px", cell: (row) => row.state },
  { id: "filter", header: "Filter", width: "minmax(160px,1fr)", cell: (row) => row.filter ?? (row.all ? "all jobs" : `${row.ids ?? 0} ids`) },
  { id: "done", header: "Done", width: "90px", align: "right", cell: (row) => <Num value={row.done} unit="jobs" /> },
  { id: "skipped", header: "Skipped", width: "90px", align: "right", cell: (row) => <Num value={row.skipped} unit="jobs" /> },
  { id: "created", header: "Begun", width: "150px", cell: (row) => <Time at={row.created_at} /> },
];

export default function Operations() {
  const list = useQuery(operations());
  useLiveQueries(["operation"], [["operations"]]);
  return (
    <>
      <PageHeader title="Operations" />
      <Loaded query={list}>
        {(data) => {
          const rows = data.items;
          return rows.length === 0 ? (
            <EmptyState title="No bulk operation was started">Use <code>ganger operation</code> for the first one.</EmptyState>
          ) : (
            <VirtualTable label="Operations" rows={rows} rowId={(row) => row.id} columns={columns} />
          );
        }}
      </Loaded>
    </>
  );
}
