/** The list of jobs: tabs with exact counts, a filter, rows that change in place. */
import { useInfiniteQuery, useQuery, useQueryClient, type InfiniteData } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { jobs, stats } from "@/api/queries";
import { GROUP_LABEL, GROUPS, type Group, type Job, type State, STATES, sumOf } from "@/api/types";
import { Button, type Column, Duration, EmptyState, ErrorPanel, formatExact, Num, PageHeader, shortId, SkeletonRows, StateLabel, Time, VirtualTable } from "@/design";
import { useLive } from "@/live/hooks";
import { MOST_VISIBLE, type Told } from "@/live/protocol";
import { useInspector } from "@/shell/JobInspector";

const route = getRouteApi("/jobs");

const columns: readonly Column<Job>[] = [
  { id: "state", header: "State", width: "110px", cell: (row) => <StateLabel state={row.state} /> },
  { id: "kind", header: "Kind", width: "minmax(120px,1fr)", cell: (row) => row.kind },
  {
    id: "id",
    header: "Id",
    width: "110px",
    cell: (row) => (
      <Link to="/jobs/$id" params={{ id: row.id }} tabIndex={-1} className="quiet-link font-mono text-12" title={row.id}>
        {shortId(row.id)}
      </Link>
    ),
  },
  { id: "queue", header: "Queue", width: "minmax(100px,0.6fr)", cell: (row) => row.queue },
  { id: "attempts", header: "Attempts", width: "80px", align: "right", cell: (row) => `${row.attempts_used}/${row.max_attempts}` },
  { id: "waited", header: "Waited", width: "90px", align: "right", cell: (row) => <Duration ms={row.queue_time_ms} />, notOnCard: true },
  { id: "ran", header: "Ran", width: "90px", align: "right", cell: (row) => <Duration ms={row.execution_time_ms} />, notOnCard: true },
  { id: "created", header: "Created", width: "96px", cell: (row) => <Time at={row.created_at} /> },
  { id: "detail", header: "", width: "minmax(120px,2fr)", cell: (row) => <span className="text-muted">{detail(row)}</span>, notOnCard: true },
];

/** The most useful one thing about a job: its last error, how far it is, or why it ended. Not its payload. */
function detail(row: Job): string {
  if (row.state === "dead" || row.state === "retrying") return row.last_error ?? row.reason ?? "";
  return row.progress?.note ?? row.reason ?? "";
}

export default function Jobs() {
  const { q = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const inspector = useInspector();
  const list = useInfiniteQuery(jobs(q));
  const rows = useMemo(() => (list.data?.pages.flatMap((page) => page.items) ?? []) as Job[], [list.data]);
  const [visible, setVisible] = useState<readonly string[]>([]);
  useVisibleJobs(q, visible);
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = list;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [fetchNextPage, hasNextPage, isFetchingNextPage]);
  const scan = list.data?.pages.at(-1)?.scan;
  return (
    <>
      <PageHeader title="Jobs" />
      <StateTabs q={q} />
      <form
        role="search"
        className="flex gap-2 py-3"
        onSubmit={(event) => {
          event.preventDefault();
          const typed = new FormData(event.currentTarget).get("q");
          void navigate({ search: (before) => ({ ...before, q: String(typed).trim() || undefined }) });
        }}
      >
        <input key={q} name="q" data-page-search defaultValue={q} aria-label="Filter" spellCheck={false} className="field min-w-0 grow font-mono text-12" placeholder="state:dead queue:mail payload.user.plan:pro age<2h" />
        <Button type="submit">Search</Button>
      </form>
      {list.error ? <ErrorPanel error={list.error} onRetry={() => void list.refetch()} /> : null}
      {list.isPending && !list.error ? <SkeletonRows rows={12} /> : null}
      {list.data && rows.length === 0 ? (
        <EmptyState title={q ? "No job matches" : "No job has come yet"}>
          {q ? (
            <>
              Nothing matches <code>{q}</code>.
            </>
          ) : (
            <>
              Submit one: <code>ganger run -- echo hello</code>
            </>
          )}
        </EmptyState>
      ) : null}
      {rows.length > 0 ? (
        <VirtualTable
          label="Jobs"
          rows={rows}
          rowId={(row) => row.id}
          columns={columns}
          total={hasNextPage ? -1 : rows.length + 1}
          openId={inspector.inspect}
          onOpen={(row) => inspector.open(row.id)}
          onOpenPage={(row) => void navigate({ to: "/jobs/$id", params: { id: row.id } })}
          tint={(row) => row.state}
          onEnd={more}
          loadingMore={isFetchingNextPage}
          onVisible={setVisible}
          dimmed={Boolean(list.error)}
          footer={
            <span>
              {formatExact(rows.length)} loaded
              {scan && !scan.complete ? `, ${formatExact(scan.examined)} looked at; scroll to search on` : ""}
            </span>
          }
        />
      ) : null}
    </>
  );
}

function StateTabs({ q }: { q: string }) {
  const counts = useQuery(stats()).data?.jobs;
  const tab = (label: string, filter: string, states: readonly State[]) => (
    <Link key={label} to="/jobs" search={(before) => ({ ...before, q: filter || undefined })} aria-current={q === filter ? "page" : undefined} className="flex h-8 items-center gap-1.5 border-b-2 border-transparent px-1 whitespace-nowrap text-muted hover:text-text hover:no-underline aria-[current=page]:border-accent aria-[current=page]:text-text">
      {label} <span className="text-12">{counts ? <Num value={sumOf(counts, states)} unit="jobs" /> : "—"}</span>
    </Link>
  );
  return (
    <nav aria-label="Jobs by state" className="flex gap-4 overflow-x-auto border-b border-line">
      {tab("All", "", STATES)}
      {(Object.keys(GROUPS) as Group[]).map((group) => tab(GROUP_LABEL[group], `state:${GROUPS[group].join(",")}`, GROUPS[group]))}
    </nav>
  );
}

/** Rows on the screen change in place; new ones never shift the list. */
function useVisibleJobs(q: string, visible: readonly string[]): void {
  const client = useQueryClient();
  const apply = (told: Told[]) => {
    const changes = new Map<string, { state: State; attempt: number }>();
    for (const { event, data } of told) {
      if (event === "job") {
        const { job, state, attempt } = data as { job: string; state: State; attempt: number };
        changes.set(job, { state, attempt });
      }
    }
    if (changes.size === 0) return;
    type Pages = InfiniteData<{ items: Job[] }>;
    client.setQueryData<Pages>(["jobs", { q }], (before) =>
      before
        ? {
            ...before,
            pages: before.pages.map((page) =>
              page.items.some((row) => changes.has(row.id)) ? { ...page, items: page.items.map((row) => ({ ...row, ...changes.get(row.id) })) } : page,
            ),
          }
        : before,
    );
  };
  useLive(["job", "attempt"], apply, visible.slice(0, MOST_VISIBLE));
}
