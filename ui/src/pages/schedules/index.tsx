/** Rules that submit a job at every instant they name. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { schedules } from "@/api/queries";
import type { Schedule } from "@/api/types";
import { type Column, EmptyState, PageHeader, Time, VirtualTable } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";

const columns: readonly Column<Schedule>[] = [
  { id: "name", header: "Name", width: "minmax(160px,1fr)", cell: (row) => <Link to="/schedules/$name" params={{ name: row.name }}>{row.name}</Link> },
  { id: "rule", header: "Rule", width: "minmax(140px,1fr)", cell: (row) => row.cron ?? row.at ?? String(row.every ?? "") },
  { id: "zone", header: "Zone", width: "140px", cell: (row) => row.time_zone },
  { id: "state", header: "State", width: "90px", cell: (row) => (row.paused ? "paused" : "on") },
  { id: "next", header: "Next", width: "150px", cell: (row) => <Time at={row.status?.next} /> },
];

export default function Schedules() {
  const list = useInfiniteQuery(schedules());
  useLiveQueries(["schedule"], [["schedules"]]);
  return (
    <>
      <PageHeader title="Schedules" />
      <Loaded query={list}>
        {(data) => {
          const rows = data.pages.flatMap((page) => page.items);
          return rows.length === 0 ? (
            <EmptyState title="There is no schedule yet">Make one: <code>ganger schedule create --help</code></EmptyState>
          ) : (
            <VirtualTable label="Schedules" rows={rows} rowId={(row) => row.name} columns={columns} onEnd={() => { if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage(); }} />
          );
        }}
      </Loaded>
    </>
  );
}
