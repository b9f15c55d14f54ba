/** What sorts of jobs there are. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { kinds } from "@/api/queries";
import type { Kind } from "@/api/types";
import { type Column, EmptyState, PageHeader, VirtualTable } from "@/design";
import { Loaded } from "@/pages/data";

const columns: readonly Column<Kind>[] = [
  { id: "kind", header: "Kind", width: "minmax(200px,1fr)", cell: (row) => <Link to="/jobs" search={{ q: `kind:${row.kind}` }}>{row.kind}</Link> },
  { id: "transactional", header: "Transactional", width: "140px", cell: (row) => (row.transactional ? "yes" : "no") },
];

export default function Kinds() {
  const list = useQuery(kinds());
  return (
    <>
      <PageHeader title="Kinds" />
      <Loaded query={list}>
        {(data) => {
          const rows = data.items;
          return rows.length === 0 ? (
            <EmptyState title="No kind is known yet">A kind is known as soon as a job has it or a worker handles it.</EmptyState>
          ) : (
            <VirtualTable label="Kinds" rows={rows} rowId={(row) => row.kind} columns={columns} />
          );
        }}
      </Loaded>
    </>
  );
}
