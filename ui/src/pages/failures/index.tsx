/** Attempts that failed for one cause, as a group. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { failures } from "@/api/queries";
import type { Failure } from "@/api/types";
import { type Column, EmptyState, Num, PageHeader, Time, VirtualTable } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";

const columns: readonly Column<Failure>[] = [
  { id: "error", header: "Error", width: "minmax(240px,2fr)", cell: (row) => <Link to="/failures/$fingerprint" params={{ fingerprint: row.fingerprint }}>{row.error}</Link> },
  { id: "kind", header: "Kind", width: "minmax(120px,1fr)", cell: (row) => row.kind },
  { id: "count", header: "Seen", width: "90px", align: "right", cell: (row) => <Num value={row.count} unit="times" /> },
  { id: "first", header: "First seen", width: "150px", cell: (row) => <Time at={row.first_at} /> },
  { id: "last", header: "Last seen", width: "150px", cell: (row) => <Time at={row.last_at} /> },
];

export default function Failures() {
  const list = useQuery(failures("24h"));
  useLiveQueries(["counts"], [["failures"]]);
  return (
    <>
      <PageHeader title="Failures" />
      <Loaded query={list}>
        {(data) => {
          const rows = data.items;
          return rows.length === 0 ? (
            <EmptyState title="No failures in the last 24 h" />
          ) : (
            <VirtualTable label="Failures" rows={rows} rowId={(row) => row.fingerprint} columns={columns} />
          );
        }}
      </Loaded>
    </>
  );
}
