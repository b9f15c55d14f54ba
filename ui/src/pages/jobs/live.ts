/** What is told about the jobs of the list: rows on the screen change in place, new matches are counted and never shift it. */
import { type InfiniteData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { api } from "@/api/client";
import { jobs, stats } from "@/api/queries";
import { type Counts, type Job, STATES } from "@/api/types";
import { useHub, useLive, useReread } from "@/live/hooks";
import { LAG_MS } from "@/live/hub";
import { isPaused } from "@/live/pause";
import { MOST_VISIBLE, type Told } from "@/live/protocol";

type Page = { items: Job[] };
export type Pages = InfiniteData<Page>;

/** Puts newer rows in the place of those with the same id. Pages in which nothing changed stay the same objects. */
export function merged(before: Pages, changes: ReadonlyMap<string, Partial<Job>>): Pages {
  const pages = before.pages.map((page) =>
    page.items.some((row) => changes.has(row.id)) ? { ...page, items: page.items.map((row) => (changes.has(row.id) ? { ...row, ...changes.get(row.id) } : row)) } : page,
  );
  return { ...before, pages };
}

/** After a change the whole row is read, so that no half of it is old. All that changed within this time in one request. */
const GATHER_MS = 400;
/** A read that failed is tried again after this. */
const AGAIN_MS = 2000;

/** Rows on the screen are read again when the stream begins to tell of them, and whenever it tells of one. */
export function useVisibleJobs(q: string, visible: readonly string[]): void {
  const client = useQueryClient();
  const hub = useHub();
  const changed = useRef(new Set<string>());
  const gathering = useRef(false);
  const here = useRef(true);
  // One read after the other: an older answer never comes after a newer one.
  const last = useRef<Promise<void>>(Promise.resolve());
  useEffect(() => {
    here.current = true;
    return () => {
      here.current = false;
    };
  }, []);
  const readOnce = async (ids: readonly string[]) => {
    // Somebody may have paused or left meanwhile; whoever goes on reads everything again.
    while (here.current && !isPaused()) {
      try {
        const { items } = await api.get("/v1/jobs", { query: { q: `id:${ids.join(",")}`, limit: MOST_VISIBLE } });
        const changes = new Map(items.map((row) => [row.id, row as Job]));
        client.setQueryData<Pages>(["jobs", { q }], (before) => (before ? merged(before, changes) : before));
        return;
      } catch {
        await new Promise((go) => setTimeout(go, AGAIN_MS));
      }
    }
  };
  const read = (ids: readonly string[]): Promise<void> => {
    if (ids.length > 0) last.current = last.current.then(() => readOnce(ids.slice(0, MOST_VISIBLE)));
    return last.current;
  };
  const onTold = (told: Told[]) => {
    for (const { data } of told) changed.current.add((data as { job: string }).job);
    if (gathering.current) return;
    gathering.current = true;
    const then = async () => {
      await new Promise((go) => setTimeout(go, GATHER_MS));
      gathering.current = false;
      const ids = [...changed.current];
      changed.current.clear();
      await read(ids);
    };
    void hub.owe(then, LAG_MS);
  };
  useLive(["job", "attempt"], onTold, visible.slice(0, MOST_VISIBLE), () => read(visible));
  useReread(() => read(visible));
}

/** Not more often than this, and at most a twentieth of the time is spent on asking. */
const EVERY_MS = 5000;
const SHARE = 20;
/** A list without rows is looked at sooner: it says that there is nothing. */
const FIRST_MS = 1000;
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
  useReread(async () => {
    missed.current = true;
  });
  useEffect(() => {
    latest.current = { counts, rows, whole };
  });
  useEffect(() => {
    if (paused) return;
    const abort = new AbortController();
    // What came between the read of the list and the first counts is in these already: the first look asks whatever they say.
    let seen: Counts | undefined;
    let next = performance.now() + (latest.current.rows.length === 0 ? FIRST_MS : EVERY_MS);
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
