/** What is told about the jobs of the list: rows on the screen change in place, new matches are counted and never shift it. */
import { type InfiniteData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { api } from "@/api/client";
import { jobs, stats } from "@/api/queries";
import { type Counts, type Job, type State, STATES } from "@/api/types";
import { useLive, useReread } from "@/live/hooks";
import { isPaused } from "@/live/pause";
import { MOST_VISIBLE, type Told } from "@/live/protocol";

type Page = { items: Job[]; readAt: number };
export type Pages = InfiniteData<Page>;

/** Puts newer rows in the place of those with the same id. Pages in which nothing changed stay the same objects. */
export function merged(before: Pages, changes: ReadonlyMap<string, Partial<Job>>): Pages {
  const pages = before.pages.map((page) =>
    page.items.some((row) => changes.has(row.id)) ? { ...page, items: page.items.map((row) => (changes.has(row.id) ? { ...row, ...changes.get(row.id) } : row)) } : page,
  );
  return { ...before, pages };
}

/** What is told of rows that are not on the screen is not heard: rows that come on it again are read again if they are older. */
const FRESH_MS = 2000;
/** Whoever scrolls on asks once for all that came on the screen. */
const SETTLE_MS = 500;
/** Of more ids than this it is forgotten when they were read; they are read once more. */
const MOST_HEARD = 5000;

/** Of these ids, those whose rows may no longer be as they are shown: not read, nor heard of, for a while. */
export function outdated(ids: readonly string[], pages: readonly Page[], heardAt: ReadonlyMap<string, number>, now: number): string[] {
  const readAt = new Map(pages.flatMap((page) => page.items.map((row) => [row.id, page.readAt] as const)));
  return ids.filter((id) => now - Math.max(readAt.get(id) ?? 0, heardAt.get(id) ?? 0) > FRESH_MS);
}

/** After a change the whole row is read: its error, its times. All that changed within this time in one request. */
const GATHER_MS = 1000;

export function useVisibleJobs(q: string, visible: readonly string[]): void {
  const client = useQueryClient();
  const changed = useRef(new Set<string>());
  const heardAt = useRef(new Map<string, number>());
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    const gathered = changed.current;
    return () => {
      clearTimeout(timer.current);
      timer.current = undefined;
      gathered.clear();
    };
  }, []);
  const put = (changes: ReadonlyMap<string, Partial<Job>>) => client.setQueryData<Pages>(["jobs", { q }], (before) => (before ? merged(before, changes) : before));
  const readAll = async () => {
    timer.current = undefined;
    const ids = [...changed.current].slice(0, MOST_VISIBLE);
    changed.current.clear();
    // Somebody may have paused meanwhile; whoever goes on reads everything again.
    if (isPaused()) return;
    const now = Date.now();
    if (heardAt.current.size > MOST_HEARD) heardAt.current.clear();
    for (const id of ids) heardAt.current.set(id, now);
    try {
      const { items } = await api.get("/v1/jobs", { query: { q: `id:${ids.join(",")}`, limit: MOST_VISIBLE } });
      put(new Map(items.map((row) => [row.id, row as Job])));
    } catch {
      // The states are right already; the rest comes with the next change.
    }
  };
  const apply = (told: Told[]) => {
    const changes = new Map<string, Partial<Job>>();
    for (const { event, data } of told) {
      if (event !== "job") continue;
      const { job, state, attempt } = data as { job: string; state: State; attempt: number };
      changes.set(job, { state, attempt });
      changed.current.add(job);
    }
    if (changes.size === 0) return;
    put(changes);
    timer.current ??= setTimeout(() => void readAll(), GATHER_MS);
  };
  useLive(["job", "attempt"], apply, visible.slice(0, MOST_VISIBLE));
  const ask = (ids: readonly string[], after: number) => {
    if (ids.length === 0) return;
    for (const id of ids) changed.current.add(id);
    timer.current ??= setTimeout(() => void readAll(), after);
  };
  const shown = useRef<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const came = visible.filter((id) => !shown.current.has(id));
    shown.current = new Set(visible);
    ask(outdated(came, client.getQueryData<Pages>(["jobs", { q }])?.pages ?? [], heardAt.current, Date.now()), SETTLE_MS);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- what is asked for depends on what came on the screen, and on nothing else
  }, [visible]);
  useReread(() => ask(visible, 0));
}

/** Not more often than this, and at most a twentieth of the time is spent on asking. */
const EVERY_MS = 5000;
const SHARE = 20;
export const MOST_NEW = 100;

/** How many of the newest matches are not in the list yet, where it should have them. */
export function countNew(head: readonly Pick<Job, "id">[], loaded: readonly Pick<Job, "id">[], whole: boolean): number {
  const known = new Set(loaded.map((row) => row.id));
  const last = loaded.at(-1)?.id;
  return head.filter((row) => !known.has(row.id) && (whole || last === undefined || row.id > last)).length;
}

/** Matches that came since the list was read: asked for only when the counters say that something happened. */
export function useNews(q: string, rows: readonly Job[], whole: boolean, paused: boolean): { news: number; refresh: () => Promise<void> } {
  const client = useQueryClient();
  const counts = useQuery(stats()).data?.jobs;
  const [found, setFound] = useState<{ rows: readonly Job[]; count: number }>();
  const latest = useRef({ counts, rows, whole });
  const missed = useRef(false);
  useReread(() => {
    missed.current = true;
  });
  useEffect(() => {
    latest.current = { counts, rows, whole };
  });
  useEffect(() => {
    if (paused) return;
    const abort = new AbortController();
    let seen = latest.current.counts;
    let next = performance.now() + EVERY_MS;
    let asking = false;
    const look = async () => {
      const now = latest.current;
      if (asking || now.counts === undefined || isPaused()) return;
      if (!missed.current && (performance.now() < next || isSame(now.counts, seen))) return;
      missed.current = false;
      asking = true;
      seen = now.counts;
      const began = performance.now();
      try {
        const { items } = await api.get("/v1/jobs", { query: { q: q || undefined, limit: MOST_NEW }, signal: abort.signal });
        const after = latest.current;
        setFound({ rows: after.rows, count: countNew(items, after.rows, after.whole) });
      } catch {
        // The connection chip tells.
      }
      next = performance.now() + Math.max(EVERY_MS, (performance.now() - began) * SHARE);
      asking = false;
    };
    const timer = setInterval(() => void look(), 1000);
    return () => {
      clearInterval(timer);
      abort.abort();
    };
  }, [q, paused]);
  const refresh = useCallback(async () => {
    setFound(undefined);
    // From the top: what was loaded further down would only be read again for nothing.
    client.setQueryData<Pages>(["jobs", { q }], (before) => (before ? { pages: before.pages.slice(0, 1), pageParams: before.pageParams.slice(0, 1) } : before));
    await Promise.all([client.refetchQueries({ queryKey: jobs(q).queryKey, exact: true }), client.invalidateQueries({ queryKey: ["histogram"] })]);
  }, [client, q]);
  // Rows that were read again since then are counted again.
  return { news: found ? (found.rows.length === rows.length && found.rows[0]?.id === rows[0]?.id ? found.count : 0) : 0, refresh };
}

const isSame = (a: Counts, b: Counts | undefined) => b !== undefined && STATES.every((state) => a[state] === b[state]);
