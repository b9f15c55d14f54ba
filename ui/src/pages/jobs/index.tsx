/** The list of jobs: tabs with exact counts, a filter, matches over time, rows that change in place, and what is done to many. */
import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ArrowUp } from "lucide-react";
import { type KeyboardEvent, useCallback, useEffect, useMemo, useState } from "react";
import { Problem } from "@/api/problem";
import { histogram, jobs, stats, useMay } from "@/api/queries";
import { FINAL, GROUP_LABEL, GROUPS, type Group, type Job, type State, STATES, sumOf } from "@/api/types";
import { Button, ErrorPanel, formatExact, Num, NOTHING, PageHeader, type Selection, SkeletonRows, VirtualTable } from "@/design";
import { useInspector } from "@/shell/JobInspector";
import { useKeys } from "@/shell/keys";
import { useTimeRange } from "@/shell/range";
import { Forbidden } from "@/shell/Refused";
import { type Action, MOST_IDS, type Target } from "./bulk";
import { BulkBar, useBulk } from "./BulkBar";
import { useColumns } from "./columns";
import { NoJobs, NoMatch, NotYet } from "./Empty";
import { inRange, statesOf, withField } from "./filter";
import { Histogram } from "./Histogram";
import { MOST_NEW, useNews, useVisibleJobs } from "./live";
import { usePeek } from "./Peek";
import { SearchBox } from "./SearchBox";
import { Toolbar } from "./Toolbar";

const route = getRouteApi("/jobs");
const PAGE = 50;
const rowId = (row: Job) => row.id;
const tint = (row: Job) => row.state;

export default function Jobs() {
  const { q = "", range: chosen } = route.useSearch();
  const range = useTimeRange();
  // Without a chosen range the list has no bound in time.
  const shown = inRange(q, chosen === undefined ? undefined : range);
  const navigate = route.useNavigate();
  const search = useCallback((next: string) => void navigate({ search: (before) => ({ ...before, q: next || undefined }) }), [navigate]);
  return (
    <>
      <PageHeader title="Jobs" actions={<Toolbar q={shown} />} />
      <StateTabs q={q} />
      <List q={shown} typed={q} onSearch={search} onAnyTime={range.reset} />
    </>
  );
}

/** `q` is what is asked for; `typed` is the same without the time range. */
function List({ q, typed, onSearch, onAnyTime }: { q: string; typed: string; onSearch: (q: string) => void; onAnyTime: () => void }) {
  const list = useInfiniteQuery({ ...jobs(q), placeholderData: keepPreviousData });
  const rows = useMemo(() => (list.data?.pages.flatMap((page) => page.items) ?? []) as Job[], [list.data]);
  const matches = useQuery(histogram(q));
  const [selection, setSelection] = useState<Selection>(NOTHING);
  const [every, setEvery] = useState(false);
  const [shownFor, setShownFor] = useState(q);
  if (shownFor !== q) {
    // Another filter is another list: nothing of the old one stays selected.
    setShownFor(q);
    setSelection(NOTHING);
    setEvery(false);
  }
  // An operation is about all queues: who sees only some may not begin one.
  const mayBulk = useMay("purge", "*");
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = list;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [fetchNextPage, hasNextPage, isFetchingNextPage]);
  const last = list.data?.pages.at(-1);
  // A page that is not full was cut by the bound of a search: whether it goes on is for people to say.
  const cut = hasNextPage && (last?.items.length ?? 0) < PAGE;
  const { news, refresh } = useNews(q, rows, !hasNextPage, selection.ids.size > 0 || !list.data || list.isPlaceholderData);
  const select = (next: Selection) => {
    setSelection(next);
    setEvery(false);
  };
  const bulk = useBulk(refresh, () => select(NOTHING));
  const showNew = useCallback(() => {
    document.querySelector('[role="grid"]')?.scrollTo({ top: 0 });
    void refresh();
  }, [refresh]);
  // Where nothing is shown, nothing can be shifted.
  const isEmpty = rows.length === 0;
  useEffect(() => {
    if (isEmpty && news > 0) void refresh();
  }, [isEmpty, news, refresh]);
  useKeys({
    n: () => news > 0 && showNew(),
    j: focusRow,
    ArrowDown: focusRow,
    A: () => {
      if (mayBulk && rows.length > 0) {
        setSelection({ ids: new Set(rows.map(rowId)), anchor: undefined });
        setEvery(true);
      }
    },
  });
  const ask = (action: Action, target?: Target) => bulk.ask(action, target ?? (every ? { filter: q } : { ids: [...selection.ids].slice(0, MOST_IDS) }));
  const problem = list.error ? Problem.from(list.error) : undefined;
  const waiting = !list.error && (list.isPending || (list.isPlaceholderData && isEmpty));
  const examined = list.data?.pages.reduce((sum, page) => sum + page.scan.examined, 0) ?? 0;
  return (
    <>
      <SearchBox q={typed} error={list.error} onSearch={onSearch} />
      {matches.data && matches.data.matched > 0 ? (
        <Histogram
          data={matches.data}
          onChoose={(from, to) => onSearch(withField(typed, "created", `created>=${iso(from)} created<${iso(to)}`))}
        />
      ) : null}
      {bulk.progress}
      {selection.ids.size > 0 ? (
        <BulkBar selected={selection.ids.size} rows={rows} selection={selection} every={every} matched={matches.data} onEvery={() => setEvery(true)} onClear={() => select(NOTHING)} onAsk={ask} />
      ) : null}
      {problem && problem.position === undefined ? problem.status === 403 ? <Forbidden problem={problem} /> : <ErrorPanel error={problem} onRetry={() => void list.refetch()} /> : null}
      {waiting ? <Waiting key={q} q={q} /> : null}
      {list.data && isEmpty && !waiting && !problem ? (
        hasNextPage ? (
          <NotYet q={q} examined={examined} busy={isFetchingNextPage} onMore={more} />
        ) : q ? (
          <NoMatch q={q} onSearch={onSearch} onAnyTime={q === typed ? undefined : onAnyTime} />
        ) : (
          <NoJobs />
        )
      ) : null}
      {news > 0 && !isEmpty ? (
        <div className="relative z-20 h-0 text-center">
          <button type="button" className="appearing mt-9 inline-flex h-7 items-center gap-1.5 rounded-full border border-transparent bg-accent px-3 text-12 font-medium text-on-accent" title="Show them (n)" onClick={showNew}>
            <ArrowUp size={13} aria-hidden="true" /> {news >= MOST_NEW ? `${MOST_NEW}+` : news} new
          </button>
        </div>
      ) : null}
      {isEmpty ? null : (
        <Table
          q={q}
          rows={rows}
          total={hasNextPage ? -1 : rows.length + 1}
          dimmed={Boolean(list.error) || list.isPlaceholderData}
          loadingMore={isFetchingNextPage}
          onEnd={cut ? undefined : more}
          selection={mayBulk ? selection : undefined}
          onSelectionChange={select}
          onAsk={ask}
          footer={
            <>
              <span>
                {hasNextPage ? `${formatExact(rows.length)} loaded` : `${formatExact(rows.length)} ${rows.length === 1 ? "job" : "jobs"}, all that match`}
              </span>
              {cut ? (
                <>
                  <span>Searched the newest {formatExact(examined)}.</span>
                  <Button small busy={isFetchingNextPage} onClick={more}>
                    Keep searching
                  </Button>
                </>
              ) : null}
            </>
          }
        />
      )}
      {bulk.dialog}
    </>
  );
}

interface TableProps {
  q: string;
  rows: readonly Job[];
  total: number;
  dimmed: boolean;
  loadingMore: boolean;
  onEnd: (() => void) | undefined;
  selection: Selection | undefined;
  onSelectionChange: (selection: Selection) => void;
  onAsk: (action: Action, target: Target) => void;
  footer: React.ReactNode;
}

function Table({ q, selection, onAsk, ...rest }: TableProps) {
  const navigate = route.useNavigate();
  const inspector = useInspector();
  const { columns } = useColumns();
  const [visible, setVisible] = useState<readonly string[]>([]);
  useVisibleJobs(q, visible);
  const open = inspector.open;
  const onOpen = useCallback((row: Job) => open(row.id), [open]);
  const peek = usePeek(rest.rows, inspector.inspect);
  /** `r` and `c` ask first; who may not do it for many sees what he may do in the inspector. */
  const onKey = (event: KeyboardEvent, row: Job) => {
    if (peek.onKey(event, row)) return;
    const action = ({ r: "replay", c: "cancel" } as const)[event.key];
    if (action === undefined && event.key !== "e") return;
    event.preventDefault();
    const fits = action === "replay" ? FINAL.includes(row.state) : !FINAL.includes(row.state);
    if (action === undefined || !selection) open(row.id);
    else if (selection.ids.size > 0) onAsk(action, { ids: [...selection.ids].slice(0, MOST_IDS) });
    else if (fits) onAsk(action, { ids: [row.id] });
  };
  // In the inspector: the job before and after this one.
  const step = (by: number) => {
    const at = rest.rows.findIndex((row) => row.id === inspector.inspect);
    const next = at < 0 ? undefined : rest.rows[at + by];
    if (next) open(next.id);
  };
  useKeys({ "[": () => step(-1), "]": () => step(1) });
  return (
    <>
      <VirtualTable
        label="Jobs"
        rowId={rowId}
        columns={columns}
        openId={inspector.inspect}
        onOpen={onOpen}
        onOpenPage={(row) => void navigate({ to: "/jobs/$id", params: { id: row.id } })}
        tint={tint}
        onVisible={setVisible}
        onKey={onKey}
        on={peek.on}
        described={peek.described}
        {...rest}
        {...(selection ? { selection } : {})}
      />
      {peek.card}
    </>
  );
}

function StateTabs({ q }: { q: string }) {
  const counts = useQuery(stats()).data?.jobs;
  const now = statesOf(q) ?? "";
  const tab = (label: string, states: readonly State[]) => {
    const asked = states.length === STATES.length ? "" : states.join(",");
    const current = now === asked;
    return (
      <Link
        key={label}
        to="/jobs"
        search={(before) => ({ ...before, q: withField(q, "state", asked && `state:${asked}`) || undefined })}
        activeOptions={{ exact: true, includeSearch: true }}
        aria-current={current ? "page" : undefined}
        className={`-mb-px flex h-8 items-center gap-1.5 border-b-2 px-1 whitespace-nowrap hover:text-text hover:no-underline ${current ? "border-accent text-text" : "border-transparent text-muted"}`}
      >
        {label} <span className="text-12 text-muted">{counts ? <Num value={sumOf(counts, states)} unit="jobs" /> : "—"}</span>
      </Link>
    );
  };
  return (
    <nav aria-label="Jobs by state" className="relative flex shrink-0 gap-4 overflow-x-auto overflow-y-hidden border-b border-line">
      {tab("All", STATES)}
      {(Object.keys(GROUPS) as Group[]).map((group) => tab(GROUP_LABEL[group], GROUPS[group]))}
    </nav>
  );
}

/** Rows are about to come; a search that takes long can be stopped. */
function Waiting({ q }: { q: string }) {
  const client = useQueryClient();
  const [slow, setSlow] = useState(false);
  const [stopped, setStopped] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), 2000);
    return () => clearTimeout(timer);
  }, []);
  const { queryKey } = jobs(q);
  if (stopped) {
    return (
      <div className="flex items-center gap-3 py-6 text-muted">
        The search was stopped.
        <Button
          small
          onClick={() => {
            setStopped(false);
            void client.refetchQueries({ queryKey, exact: true });
          }}
        >
          Search again
        </Button>
      </div>
    );
  }
  return (
    <>
      {slow ? (
        <div className="flex items-center gap-3 pb-2 text-12 text-muted">
          This search takes long.
          <Button
            small
            onClick={() => {
              setStopped(true);
              void client.cancelQueries({ queryKey, exact: true });
            }}
          >
            Stop searching
          </Button>
        </div>
      ) : null}
      <SkeletonRows rows={12} />
    </>
  );
}

/** From anywhere on the page into the list. */
function focusRow(): void {
  document.querySelector<HTMLElement>('[role="grid"] [role="row"][tabindex="0"]')?.focus();
}

const iso = (at: number) => new Date(at).toISOString().replace(".000Z", "Z");
