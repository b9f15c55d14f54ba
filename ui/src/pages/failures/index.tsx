/** Attempts that failed for one cause, as a group. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Copy, Ellipsis, RotateCcw, Rows3, Search, Trash2 } from "lucide-react";
import { useMemo, useState } from "react";
import { failures, stats, timeseries, useMay } from "@/api/queries";
import type { Failure, Failures as FailureList } from "@/api/types";
import { Button, Chip, type Column, copyText, EmptyState, formatExact, formatPercent, Menu, MenuItem, MenuLine, Num, PageHeader, StateIcon, Time, toast, useIsWide, useNow, VirtualTable } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";
import { stepOf, useTimeRange } from "@/shell/range";
import { GroupDialog, type GroupTarget } from "./GroupDialog";
import { inRange, isNew, lately, search as matching, splitError, windowOf } from "./groups";
import { Trend } from "./Trend";

const route = getRouteApi("/failures");
/** The most that the server gives at once. */
const MOST_GROUPS = 500;
const NONE: FailureList = { items: [] };
const TABS = [
  ["all", "All"],
  ["new", "New"],
  ["recurring", "Seen before"],
] as const;

export default function Failures() {
  const { tab = "all" } = route.useSearch();
  const range = useTimeRange();
  const now = Math.ceil(useNow() / 60_000) * 60_000;
  const list = useQuery(failures(windowOf(range, now), MOST_GROUPS));
  const [text, setText] = useState("");
  const [target, setTarget] = useState<GroupTarget>();
  // A long window is read from many rows, and changes little from one moment to the next.
  useLiveQueries(["counts"], [["failures"]]);
  const all = inRange(list.data ?? NONE, range);
  const news = all.filter((group) => isNew(group, range)).length;
  const counts = { all: all.length, new: news, recurring: all.length - news };
  const chosen = all.filter((group) => tab === "all" || isNew(group, range) === (tab === "new"));
  const rows = matching(chosen, text);
  const columns = useColumns(range, list.data?.window, setTarget);
  const navigate = useNavigate();
  return (
    <>
      <PageHeader title="Failures" actions={<NowLinks />}>
        Failed attempts, grouped by kind and cause. {range.label}.{list.data && !list.data.window ? " Over more than seven days only totals are known." : ""}
      </PageHeader>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 pb-3">
        <nav aria-label="Which groups" className="flex gap-1">
          {TABS.map(([id, label]) => (
            <Link
              key={id}
              to="/failures"
              search={(before) => ({ ...before, tab: id === "all" ? undefined : id })}
              aria-current={tab === id ? "page" : undefined}
              className="h-8 border-b-2 border-transparent px-2 leading-8 text-muted hover:text-text hover:no-underline aria-[current=page]:border-accent aria-[current=page]:text-text"
            >
              {label} <span className="text-muted">{list.data ? formatExact(counts[id]) : ""}</span>
            </Link>
          ))}
        </nav>
        <label className="relative ml-auto w-72 max-sm:w-full">
          <Search size={14} className="absolute top-2.25 left-2.5 text-muted" aria-hidden="true" />
          <span className="sr-only">Search groups by error or kind</span>
          <input className="field w-full pl-8!" type="search" placeholder="Error or kind" data-page-search value={text} onChange={(event) => setText(event.target.value)} />
        </label>
      </div>
      <Loaded query={list}>
        {(data) =>
          rows.length > 0 ? (
            <VirtualTable
              label="Groups of failures"
              steady
              rows={rows}
              rowId={(row) => row.fingerprint}
              columns={columns}
              onOpen={(row) => void navigate({ to: "/failures/$fingerprint", params: { fingerprint: row.fingerprint } })}
              tint={(row) => String(row.count)}
              footer={data.items.length >= MOST_GROUPS ? `The ${MOST_GROUPS} groups that were seen last are shown; choose a shorter time range to see the others.` : undefined}
            />
          ) : (
            <Nothing text={text} tab={tab} all={all.length} clear={() => setText("")} />
          )
        }
      </Loaded>
      <GroupDialog target={target} onClose={() => setTarget(undefined)} />
    </>
  );
}

/** Exact and now, whatever the range. */
function NowLinks() {
  const jobs = useQuery(stats()).data?.jobs;
  return (["retrying", "dead"] as const).map((state) => (
    <Link key={state} to="/jobs" search={{ q: `state:${state}` }} className="quiet-link inline-flex h-8 items-center gap-2 rounded border border-line px-3 hover:border-line-strong hover:no-underline">
      <StateIcon state={state} />
      <span>{state === "retrying" ? "Retrying now" : "Dead"}</span>
      <span className="font-medium">
        <Num value={jobs?.[state]} unit="jobs" />
      </span>
    </Link>
  ));
}

/** Columns for which a narrower window has no room. */
const ONLY_WIDE = new Set(["share", "total"]);

function useColumns(range: ReturnType<typeof useTimeRange>, window: FailureList["window"], act: (target: GroupTarget) => void): readonly Column<Failure>[] {
  const mayReplay = useMay("replay", "*");
  const mayPurge = useMay("purge", "*");
  const { from, to, moving, label, text } = range;
  const wide = useIsWide();
  return useMemo(() => {
    const did = (row: Failure) => lately(row, window, { from, to, moving });
    const columns: Column<Failure>[] = [
      { id: "error", sortBy: (row) => row.error, header: "Error", width: "minmax(220px,1fr)", wholeLine: true, cell: (row) => <Cause row={row} from={from} /> },
      { id: "kind", sortBy: (row) => row.kind, header: "Kind", width: "minmax(110px,0.45fr)", wholeLine: true, cell: (row) => <span title={row.kind}>{row.kind}</span> },
      { id: "count", sortBy: (row) => did(row)?.count, header: moving ? label : "In range", width: "80px", align: "right", cell: (row) => <Attempts count={did(row)?.count} /> },
      { id: "trend", header: "Trend", width: "104px", notOnCard: true, cell: (row) => <Trend did={did(row)} width={100} /> },
      { id: "share", sortBy: (row) => did(row)?.share, header: "% of runs", width: "112px", align: "right", notOnCard: true, cell: (row) => formatPercent(did(row)?.share) },
      { id: "total", sortBy: (row) => row.count, header: "Total", width: "64px", align: "right", notOnCard: true, cell: (row) => <Num value={row.count} unit="failed attempts since the first" /> },
      { id: "first", sortBy: (row) => Date.parse(row.first_at), header: "First seen", width: "88px", time: true, notOnCard: true, cell: (row) => <Time at={row.first_at} /> },
      { id: "last", sortBy: (row) => Date.parse(row.last_at), header: "Last seen", width: "88px", time: true, cell: (row) => <Time at={row.last_at} /> },
      { id: "actions", header: <span className="sr-only">Actions</span>, width: "32px", notOnCard: true, cell: (row) => <Actions row={row} range={text} act={act} mayReplay={mayReplay} mayPurge={mayPurge} /> },
    ];
    return columns.filter((column) => wide || !ONLY_WIDE.has(column.id));
  }, [window, mayReplay, mayPurge, act, from, to, moving, label, text, wide]);
}

/** A card has no head that would say what is counted. */
function Attempts({ count }: { count: number | undefined }) {
  return (
    <>
      <Num value={count} unit="failed attempts" />
      <span className="text-muted sm:hidden" aria-hidden="true">
        {" "}
        attempts
      </span>
    </>
  );
}

function Cause({ row, from }: { row: Failure; from: number }) {
  const { name, text } = splitError(row.error);
  return (
    <span className="flex items-center gap-2" title={row.error}>
      <Link to="/failures/$fingerprint" params={{ fingerprint: row.fingerprint }} className="quiet-link truncate">
        {name ? <span className="font-medium">{name}: </span> : null}
        {text}
      </Link>
      {isNew(row, { from }) ? <Chip tone="bad">new</Chip> : null}
    </span>
  );
}

function Actions({ row, range, act, mayReplay, mayPurge }: { row: Failure; range: string; act: (target: GroupTarget) => void; mayReplay: boolean; mayPurge: boolean }) {
  const navigate = useNavigate();
  const target = { fingerprint: row.fingerprint, error: row.error };
  const link = async () => {
    const copied = await copyText(new URL(`failures/${row.fingerprint}`, document.baseURI).href);
    if (copied) toast.done("Copied the link.");
    else toast.failed("The browser refused to copy the link");
  };
  return (
    <Menu trigger={<Button small look="quiet" icon={<Ellipsis size={15} />} aria-label={`Actions for ${row.error.slice(0, 60)}`} />}>
      <MenuItem icon={<Rows3 size={14} />} onSelect={() => void navigate({ to: "/jobs", search: { q: `failure:${row.fingerprint}`, range } })}>
        Show its jobs
      </MenuItem>
      <MenuItem icon={<Copy size={14} />} onSelect={() => void link()}>
        Copy link
      </MenuItem>
      {mayReplay || mayPurge ? <MenuLine /> : null}
      {mayReplay ? (
        <MenuItem icon={<RotateCcw size={14} />} onSelect={() => act({ action: "replay", ...target })}>
          Replay its dead jobs…
        </MenuItem>
      ) : null}
      {mayPurge ? (
        <MenuItem danger icon={<Trash2 size={14} />} onSelect={() => act({ action: "discard", ...target })}>
          Discard its dead jobs…
        </MenuItem>
      ) : null}
    </Menu>
  );
}

/** Says why there is nothing: nothing failed, or the search or the tab leaves it out. */
function Nothing({ text, tab, all, clear }: { text: string; tab: string; all: number; clear: () => void }) {
  const range = useTimeRange();
  const iso = (at: number) => new Date(at).toISOString();
  const ended = useQuery(timeseries({ metric: "throughput", from: iso(range.from), to: iso(range.to), step: stepOf(range) })).data;
  const succeeded = ended?.series[0]?.total.succeeded;
  if (text.trim()) {
    return (
      <EmptyState title={`No group has “${text.trim()}” in its error or kind`} action={<Button onClick={clear}>Clear the search</Button>}>
        {all > 0 ? `${formatExact(all)} groups were seen in this range.` : "Nothing failed in this range."}
      </EmptyState>
    );
  }
  if (all > 0) {
    return (
      <EmptyState title={tab === "new" ? "No new cause of failures in this range" : "Every cause in this range is new"}>
        <Link to="/failures" search={(before) => ({ ...before, tab: undefined })}>
          Show all {formatExact(all)} groups
        </Link>
      </EmptyState>
    );
  }
  return (
    <EmptyState title={`No failures: ${range.label.toLowerCase()}`}>
      {succeeded ? `${formatExact(succeeded)} jobs succeeded.` : "No job ended in this range either."} Choose a longer time range above to look further back.
    </EmptyState>
  );
}
