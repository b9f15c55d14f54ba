/** The one place from which screen readers are spoken to: politely, summed up, and not too often. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useSyncExternalStore } from "react";
import { stats } from "@/api/queries";
import { useConnection } from "@/live/hooks";

/** News that come within this time are told together. */
const GATHER_MS = 1500;
/** Counts are told this often at most. */
const COUNTS_EVERY_MS = 15_000;

let text = "";
let waiting: string[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

/** Says something, soon. */
export function announce(message: string): void {
  if (waiting.at(-1) !== message) waiting.push(message);
  timer ??= setTimeout(() => {
    timer = undefined;
    text = waiting.slice(-3).join(". ");
    waiting = [];
    for (const listener of listeners) listener();
  }, GATHER_MS);
}

export function Announcer() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => text,
  );
  useFailureNews();
  useConnectionNews();
  return (
    <div aria-live="polite" role="status" className="sr-only">
      {shown}
    </div>
  );
}

/** "38 new failed jobs." */
function useFailureNews(): void {
  const dead = useQuery(stats()).data?.jobs.dead;
  const told = useRef<{ count: number; at: number }>(undefined);
  useEffect(() => {
    if (dead === undefined) return;
    const before = told.current;
    if (!before || dead < before.count) {
      told.current = { count: dead, at: 0 };
    } else if (dead > before.count && Date.now() - before.at > COUNTS_EVERY_MS) {
      const more = dead - before.count;
      announce(`${more} new failed ${more === 1 ? "job" : "jobs"}`);
      told.current = { count: dead, at: Date.now() };
    }
  }, [dead]);
}

function useConnectionNews(): void {
  const { state } = useConnection();
  const before = useRef(state);
  useEffect(() => {
    // Every page catches up for a moment; that is no news.
    if (before.current === state || state === "updating") return;
    const first = before.current === "updating";
    before.current = state;
    if (first && state === "live") return;
    announce(
      {
        live: "Live again",
        paused: "Live updates paused",
        reconnecting: "Connection lost, reconnecting",
        delayed: "Updates are delayed",
        offline: "Offline: the page shows old data",
      }[state],
    );
  }, [state]);
}
