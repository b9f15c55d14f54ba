/** Bulk actions and how far they are; and who did what. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { operations, useMay } from "@/api/queries";
import type { Operation } from "@/api/types";
import { CliLine, type Column, EmptyState, formatExact, Num, PageHeader, Tabs, Time, VirtualTable } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";
import { Mark, Meter } from "@/pages/glyphs";
import { Audit } from "./Audit";
import { targetOf, titleOf, toneOf, touchedOf } from "./progress";

const route = getRouteApi("/operations");

const columns: readonly Column<Operation>[] = [
  { id: "action", header: "Operation", width: "minmax(120px,1fr)", cell: (row) => <Link to="/operations/$id" params={{ id: row.id }}>{titleOf(row)}</Link> },
  { id: "state", header: "State", width: "110px", cell: (row) => <Mark tone={toneOf(row)}>{row.state}</Mark> },
  { id: "filter", header: "Which jobs", width: "minmax(160px,2fr)", cell: (row) => <code className="text-12">{targetOf(row)}</code> },
  { id: "progress", header: "Progress", width: "90px", notOnCard: true, cell: (row) => (row.total == null ? "—" : <Meter value={touchedOf(row)} of={Math.max(row.total, touchedOf(row))} label={`${formatExact(touchedOf(row))} of ${formatExact(row.total)} jobs`} fill="bg-succeeded" />) },
  { id: "done", header: "Done", width: "80px", align: "right", cell: (row) => <Num value={row.done} unit="jobs" /> },
  { id: "skipped", header: "Skipped", width: "80px", align: "right", notOnCard: true, cell: (row) => <Num value={row.skipped} unit="jobs" /> },
  { id: "by", header: "Started by", width: "minmax(80px,0.6fr)", notOnCard: true, cell: (row) => row.by ?? "—" },
  { id: "reason", header: "Reason", width: "minmax(100px,1fr)", notOnCard: true, cell: (row) => <span className="text-muted">{row.reason ?? "—"}</span> },
  { id: "created", header: "Started", width: "140px", time: true, notOnCard: true, cell: (row) => <Time at={row.created_at} /> },
];

export default function Operations() {
  const { tab = "operations" } = route.useSearch();
  const navigate = route.useNavigate();
  const mayAudit = useMay("audit", "*");
  const tabs = [
    { id: "operations", label: "Bulk operations", content: <List /> },
    ...(mayAudit ? [{ id: "audit", label: "Audit", content: <Audit /> }] : []),
  ];
  return (
    <>
      <PageHeader title="Operations" />
      <Tabs label="Operations and audit" tabs={tabs} value={tabs.some(({ id }) => id === tab) ? tab : "operations"} onChange={(id) => void navigate({ search: (before) => ({ ...before, tab: id === "operations" ? undefined : id }) })} />
    </>
  );
}

function List() {
  const list = useQuery(operations());
  const go = useNavigate();
  useLiveQueries(["operation"], [["operations"]]);
  return (
    <Loaded query={list}>
      {(data) =>
        data.items.length === 0 ? (
          <EmptyState title="No bulk operation was started" action={<CliLine command="ganger operation start replay --filter 'state:dead'" />}>
            Select jobs in the list of jobs, or choose all that match a filter, to replay, cancel or delete them together.
          </EmptyState>
        ) : (
          <VirtualTable label="Operations" rows={data.items} rowId={(row) => row.id} columns={columns} tint={(row) => row.state} onOpen={(row) => void go({ to: "/operations/$id", params: { id: row.id } })} />
        )
      }
    </Loaded>
  );
}
