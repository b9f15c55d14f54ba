/** Is anything wrong, and is it getting worse? */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { queues, stats } from "@/api/queries";
import { GROUP_LABEL, GROUPS, type Group, type Queue, sumOf } from "@/api/types";
import { type Column, Duration, EmptyState, Num, PageHeader, Panel, VirtualTable } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";

const columns: readonly Column<Queue>[] = [
  {
    id: "queue",
    header: "Queue",
    width: "minmax(160px,1fr)",
    cell: (row) => (
      <Link to="/queues/$queue" params={{ queue: row.queue }}>
        {row.queue}
      </Link>
    ),
  },
  { id: "ready", header: "Ready", width: "90px", align: "right", cell: (row) => <Num value={row.jobs.queued} unit="jobs" /> },
  { id: "running", header: "Running", width: "90px", align: "right", cell: (row) => <Num value={row.jobs.running} unit="jobs" /> },
  { id: "dead", header: "Dead", width: "90px", align: "right", cell: (row) => <Num value={row.jobs.dead} unit="jobs" /> },
  { id: "oldest", header: "Oldest ready", width: "120px", align: "right", cell: (row) => <Duration ms={row.oldest_ready_ms} /> },
];

export default function Overview() {
  const now = useQuery(stats());
  const list = useQuery(queues());
  useLiveQueries(["counts", "queue"], [["queues"]]);
  return (
    <>
      <PageHeader title="Overview">{now.data?.verdict?.text}</PageHeader>
      <Loaded query={now} rows={2}>
        {(data) => (
          <dl className="mb-4 grid grid-cols-6 gap-px overflow-hidden rounded border border-line bg-line max-md:grid-cols-3">
            {(Object.keys(GROUPS) as Group[]).map((group) => (
              <div key={group} className="bg-surface px-3 py-2">
                <dt className="text-12 text-muted">{GROUP_LABEL[group]}</dt>
                <dd className="text-20">
                  <Num value={sumOf(data.jobs, GROUPS[group])} unit="jobs" />
                </dd>
              </div>
            ))}
          </dl>
        )}
      </Loaded>
      <Panel title="Queues">
        <Loaded query={list}>
          {({ items }) =>
            items.length === 0 ? (
              <EmptyState title="No job has come yet">
                Submit one: <code>ganger run -- echo hello</code>
              </EmptyState>
            ) : (
              <VirtualTable label="Queues" rows={items} rowId={(row) => row.queue} columns={columns} />
            )
          }
        </Loaded>
      </Panel>
    </>
  );
}
