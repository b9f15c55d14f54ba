/** The columns of the list, and which of them somebody wants to see. */
import { Link } from "@tanstack/react-router";
import { useSyncExternalStore } from "react";
import type { Job } from "@/api/types";
import { type Column, Duration, Elapsed, formatDuration, formatPercent, shortId, StateLabel, Time } from "@/design";

interface Choice extends Column<Job> {
  /** Said in the menu; the head may be shorter. */
  name: string;
  /** Not seen until it is asked for. */
  extra?: boolean;
}

const COLUMNS: readonly Choice[] = [
  { id: "state", name: "State", header: "State", width: "104px", cell: (row) => <StateLabel state={row.state} /> },
  { id: "kind", name: "Kind", header: "Kind", width: "minmax(140px,1.7fr)", cell: (row) => <span title={row.kind}>{row.kind}</span> },
  {
    id: "id",
    name: "Id and key",
    header: "Id / key",
    width: "minmax(100px,0.9fr)",
    cell: (row) => (
      <>
        <Link to="/jobs/$id" params={{ id: row.id }} tabIndex={-1} className="quiet-link font-mono text-12" title={row.id}>
          {shortId(row.id)}
        </Link>
        {row.unique_key ? <span className="pl-3 text-muted">{row.unique_key}</span> : null}
      </>
    ),
  },
  { id: "queue", name: "Queue", header: "Queue", width: "minmax(80px,0.6fr)", cell: (row) => <span title={row.queue}>{row.queue}</span> },
  { id: "attempts", name: "Attempts", header: "Attempts", width: "64px", align: "right", cell: (row) => <Attempts row={row} /> },
  { id: "waited", name: "Waited", header: "Waited", width: "76px", align: "right", cell: (row) => (row.state === "queued" ? <Elapsed since={row.run_at} /> : <Duration ms={row.queue_time_ms} />), notOnCard: true },
  { id: "ran", name: "Ran", header: "Ran", width: "76px", align: "right", cell: (row) => <Ran row={row} />, notOnCard: true },
  { id: "created", name: "Created", header: "Created", width: "88px", time: true, cell: (row) => <Time at={row.created_at} /> },
  { id: "finished", name: "Finished", header: "Finished", width: "88px", time: true, cell: (row) => <Time at={row.finished_at} />, notOnCard: true, extra: true },
  { id: "run_at", name: "Due", header: "Due", width: "88px", time: true, cell: (row) => <Time at={row.run_at} />, notOnCard: true, extra: true },
  { id: "priority", name: "Priority", header: "Priority", width: "56px", align: "right", cell: (row) => row.priority, notOnCard: true, extra: true },
  { id: "threads", name: "Threads", header: "Threads", width: "56px", align: "right", cell: (row) => row.threads, notOnCard: true, extra: true },
  { id: "worker", name: "Worker", header: "Worker", width: "minmax(90px,0.6fr)", cell: (row) => row.worker ?? "—", notOnCard: true, extra: true },
  { id: "tags", name: "Tags", header: "Tags", width: "minmax(80px,0.6fr)", cell: (row) => (row.tags ?? []).join(", "), notOnCard: true, extra: true },
  {
    id: "detail",
    name: "Error, progress or reason",
    header: "Error, progress or reason",
    width: "minmax(140px,1.6fr)",
    wholeLine: true,
    cell: (row) => (
      <span className="text-muted" title={detail(row)}>
        {detail(row) || <OnCard row={row} />}
      </span>
    ),
  },
];

/** The most useful one thing about a job: its last error, how far it is, or why it ended. Not its payload. */
function detail(row: Job): string {
  if (row.state === "succeeded") return "";
  if (row.state === "running") return row.progress?.note ?? (row.worker ? `on ${row.worker}` : "");
  if (row.state === "cancelled") return row.reason ?? "";
  return row.last_error ?? row.reason ?? "";
}

function Attempts({ row }: { row: Job }) {
  return (
    <>
      {row.attempts_used}/{row.max_attempts}
      <span className="text-muted sm:hidden"> attempts</span>
    </>
  );
}

/** On a card, whose columns of times are left out, there is room for them where there is nothing else to say. */
function OnCard({ row }: { row: Job }) {
  const times = [
    ...(row.queue_time_ms == null ? [] : [`waited ${formatDuration(row.queue_time_ms)}`]),
    ...(row.execution_time_ms == null ? [] : [`ran ${formatDuration(row.execution_time_ms)}`]),
  ];
  return <span className="sm:hidden">{row.state === "scheduled" ? <>due <Time at={row.run_at} /></> : times.join(", ")}</span>;
}

function Ran({ row }: { row: Job }) {
  const fraction = row.state === "running" ? row.progress?.fraction : undefined;
  if (fraction === undefined) return row.state === "running" ? <Elapsed since={row.started_at} /> : <Duration ms={row.execution_time_ms} />;
  return (
    <span className="flex items-center justify-end gap-1.5">
      <span className="h-1 w-8 rounded-full bg-line" aria-hidden="true">
        <span className="block h-1 rounded-full bg-running" style={{ width: `${Math.min(100, fraction * 100)}%` }} />
      </span>
      {formatPercent(fraction)}
    </span>
  );
}

const KEY = "ganger.jobs.columns";
const DEFAULT = COLUMNS.filter((column) => !column.extra).map((column) => column.id);
export const CHOICES = COLUMNS.filter((column) => column.id !== "state").map(({ id, name }) => ({ id, name }));

/** What is stored, as far as it makes sense: known columns, and always the state. */
export function readColumns(stored: string | null): readonly string[] {
  try {
    const list = JSON.parse(stored ?? "null") as unknown;
    if (!Array.isArray(list)) return DEFAULT;
    const known = COLUMNS.map((column) => column.id).filter((id) => id === "state" || list.includes(id));
    return known.length > 1 ? known : DEFAULT;
  } catch {
    return DEFAULT;
  }
}

let shown: readonly string[] | undefined;
const listeners = new Set<() => void>();

function current(): readonly string[] {
  try {
    shown ??= readColumns(localStorage.getItem(KEY));
  } catch {
    shown ??= DEFAULT;
  }
  return shown;
}

export function chooseColumns(ids: readonly string[] | undefined): void {
  shown = ids === undefined ? DEFAULT : readColumns(JSON.stringify(ids));
  try {
    localStorage.setItem(KEY, JSON.stringify(shown));
  } catch {
    // Without storage it holds until the page is closed.
  }
  for (const listener of listeners) listener();
}

export function useColumns(): { ids: readonly string[]; columns: readonly Column<Job>[] } {
  const ids = useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, current);
  return { ids, columns: columnsOf(ids) };
}

const made = new Map<string, readonly Column<Job>[]>();

/** The same choice gives the same list, so that rows are not drawn again for nothing. */
function columnsOf(ids: readonly string[]): readonly Column<Job>[] {
  const key = ids.join();
  const found = made.get(key) ?? COLUMNS.filter((column) => ids.includes(column.id));
  made.set(key, found);
  return found;
}
