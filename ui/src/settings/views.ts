/** Saved views: those that everybody sees, kept by the server, and one's own, kept in this browser. Each is a filter with a name. */
import { useQuery } from "@tanstack/react-query";
import { useMemo, useSyncExternalStore } from "react";
import { views } from "@/api/queries";

export interface SavedView {
  name: string;
  query: string;
  /** Only in this browser. */
  own: boolean;
}

const KEY = "ganger.views";
/** More would be a list to search, not views. */
export const MOST_OWN = 50;

/** What is stored, as far as it makes sense. */
export function readOwn(text: string | null): SavedView[] {
  try {
    const stored = JSON.parse(text ?? "[]") as unknown;
    if (!Array.isArray(stored)) return [];
    const known = stored.filter((one): one is SavedView => typeof one?.name === "string" && typeof one?.query === "string");
    return known.slice(0, MOST_OWN).map(({ name, query }) => ({ name, query, own: true }));
  } catch {
    return [];
  }
}

let own: readonly SavedView[] | undefined;
const listeners = new Set<() => void>();

function current(): readonly SavedView[] {
  try {
    own ??= readOwn(localStorage.getItem(KEY));
  } catch {
    own ??= [];
  }
  return own;
}

function write(list: readonly SavedView[]): void {
  own = list;
  try {
    localStorage.setItem(KEY, JSON.stringify(list.map(({ name, query }) => ({ name, query }))));
  } catch {
    // Without storage they hold until the page is closed.
  }
  for (const listener of listeners) listener();
}

/** Another one of the same name is replaced. */
export function keepOwn(name: string, query: string): void {
  write([...current().filter((view) => view.name !== name), { name, query, own: true }].slice(-MOST_OWN));
}

export function forgetOwn(name: string): void {
  write(current().filter((view) => view.name !== name));
}

function subscribe(listener: () => void): () => void {
  const onStorage = (event: StorageEvent) => {
    if (event.key !== KEY) return;
    own = undefined;
    listener();
  };
  listeners.add(listener);
  addEventListener("storage", onStorage);
  return () => {
    listeners.delete(listener);
    removeEventListener("storage", onStorage);
  };
}

/** Everybody's first, then one's own. */
export function useViews(): readonly SavedView[] {
  const mine = useSyncExternalStore(subscribe, current);
  const shared = useQuery(views()).data?.items;
  return useMemo(() => [...(shared ?? []).map(({ name, query }) => ({ name, query, own: false })), ...mine], [shared, mine]);
}
