/**
 * The page's end of the live events.
 *
 * Listeners say what they want; all wants together go to the holder of the stream. What is told comes in batches, at most
 * four times a second. Counts are absolute and always flow; everything else stops while the tab is hidden or paused, and is
 * read again afterwards.
 *
 * What changes between a read and the moment from which the stream tells of it would be lost. So each want has a number, the
 * holder answers when the stream covers it, and every listener that is new by then reads its data again. Until that is done the
 * page is behind, and does not call itself live.
 */
import type { QueryClient, QueryFilters, QueryKey } from "@tanstack/react-query";
import { refreshLogin } from "@/api/client";
import type { Stats } from "@/api/types";
import { serverUrl } from "@/base";
import { batched } from "./batch";
import { initialLink, type Link, nextLink } from "./connection";
import { Holder } from "./holder";
import { setPaused } from "./pause";
import { type Told, type ToHolder, type Topic, together, type ToTab, type Want } from "./protocol";

/** Everything is read again at most this often, however many gaps there are. */
const REREAD_EVERY_MS = 2000;
const STILL_HERE_MS = 30_000;

export interface Listener {
  topics: readonly Topic[];
  visible?: readonly string[];
  onTold?: ((told: Told[]) => void) | undefined;
  /** Reads again: the stream tells of it from now on. What is being read for the first time counts only if it was `already` told. */
  catchUp?: ((already: boolean) => Promise<unknown>) | undefined;
}

/** A listener, and whether the stream covers it. */
interface Known extends Listener {
  /** The first want that had it. */
  n: number;
  covered: boolean;
}

/** What was told so long ago and is not read yet makes the page behind. */
export const LAG_MS = 1200;
/** What the stream does not tell is read again this often. */
const UNTOLD_MS = 2000;
/** The server tells counts at least every five seconds to whoever may see all queues. Others are told of their own jobs only. */
const COUNTS_WITHIN_MS = 8000;

export class Hub {
  #client: QueryClient;
  #port: { postMessage(message: ToHolder): void };
  /** Whether one stream serves all tabs. Where it cannot, only the tab in sight has one: on a phone, that is one for the browser. */
  #shared: boolean;
  #listeners = new Map<symbol, Known>();
  #subscribers = new Set<() => void>();
  #rereaders = new Set<() => Promise<unknown>>();
  #link: Link = initialLink(Date.now());
  #rereadAt = 0;
  #rereadPlanned = false;
  /** The number of the last want. */
  #n = 0;
  #wantPlanned = false;
  /** Reads that are not done yet. */
  #owed = 0;
  #partial = false;
  #countsAt = Date.now();
  #batch = batched<Told>(
    (told) => this.#apply(told),
    () => this.reread(),
  );

  constructor(client: QueryClient) {
    this.#client = client;
    [this.#port, this.#shared] = openPort((message) => this.#receive(message));
    document.addEventListener("visibilitychange", () => this.#visibility());
    addEventListener("online", () => this.#port.postMessage({ type: "retry", online: true }));
    addEventListener("offline", () => this.#port.postMessage({ type: "retry", online: false }));
    addEventListener("pagehide", () => this.#port.postMessage({ type: "bye" }));
    addEventListener("pageshow", () => this.#want());
    setInterval(() => {
      if (this.#shared || !document.hidden) this.#port.postMessage({ type: "here" });
    }, STILL_HERE_MS);
    setInterval(() => this.#readUntold(), UNTOLD_MS);
  }

  /** Begins to listen; what it gives back ends it. */
  listen(listener: Listener): () => void {
    const key = Symbol("listener");
    this.#listeners.set(key, { ...listener, n: Infinity, covered: false });
    this.#wantSoon();
    return () => {
      this.#listeners.delete(key);
      this.#wantSoon();
    };
  }

  get link(): Link {
    return this.#link;
  }

  subscribe = (changed: () => void): (() => void) => {
    this.#subscribers.add(changed);
    return () => this.#subscribers.delete(changed);
  };

  togglePause(): void {
    const paused = !this.#link.paused;
    this.#setLink(nextLink(this.#link, paused ? { type: "pause" } : { type: "resume", at: Date.now() }));
    setPaused(paused);
    this.#batch.clear();
    this.#want();
    if (!paused) this.reread();
  }

  /** Tells the stream that somebody has logged in. */
  authenticated(): void {
    this.#port.postMessage({ type: "authenticated" });
  }

  /** Called when something was missed, by whoever reads again in a way of his own. What it gives back ends it. */
  onReread(reread: () => Promise<unknown>): () => void {
    this.#rereaders.add(reread);
    return () => this.#rereaders.delete(reread);
  }

  /** Reads everything on the page again: something was missed. But for lists of jobs, which new ones would shift. */
  reread(): void {
    if (this.#rereadPlanned) return;
    this.#rereadPlanned = true;
    const wait = Math.max(0, this.#rereadAt - Date.now());
    void this.owe(async () => {
      await new Promise((go) => setTimeout(go, wait));
      this.#rereadPlanned = false;
      this.#rereadAt = Date.now() + REREAD_EVERY_MS;
      await Promise.all([
        readAgain(this.#client, { predicate: ({ queryKey }) => !isJobList(queryKey) }),
        ...[...this.#rereaders].map((reread) => reread()),
      ]);
    });
  }

  /**
   * The page is behind until this is done, however it ends: what could not be read says so itself. What follows from a single event
   * has `LAG_MS` before it counts.
   */
  async owe(read: () => Promise<unknown>, after = 0): Promise<void> {
    let counted = false;
    const count = () => {
      counted = true;
      this.#owed += 1;
      this.#judge();
    };
    const timer = after > 0 ? setTimeout(count, after) : count();
    try {
      await read();
    } catch {
      // Its panel tells.
    } finally {
      clearTimeout(timer ?? undefined);
      if (counted) this.#owed -= 1;
      this.#judge();
    }
  }

  /** Whether everything on the page is followed and was read since. */
  #judge(): void {
    const behind = this.#owed > 0 || this.#wantPlanned || [...this.#listeners.values()].some((listener) => !listener.covered);
    if (behind === (this.#link.behindSince !== undefined)) return;
    this.#setLink(nextLink(this.#link, { type: "behind", since: behind ? Date.now() : undefined }));
  }

  /** The stream covers want `n`: whatever is new by it reads its data again. */
  #covered(n: number, already: boolean, partial: boolean): void {
    if (n === this.#n) this.#partial = partial;
    for (const listener of this.#listeners.values()) {
      // How far operations are has no place in the stream: what happened while it was opened again is not told later.
      const unplaced = !already && listener.topics.includes("operation");
      if (listener.n > n || (listener.covered && !unplaced)) continue;
      listener.covered = true;
      const { catchUp } = listener;
      if (catchUp) void this.owe(() => catchUp(already));
    }
    this.#judge();
  }

  /** By the clock: jobs beyond what a stream can follow, and what somebody who sees only some queues is not told. */
  #readUntold(): void {
    if (document.hidden || this.#link.paused || this.#link.phase !== "open") return;
    const uncounted = this.#link.slowMs === 0 && Date.now() - this.#countsAt > COUNTS_WITHIN_MS;
    if (uncounted) void this.#client.invalidateQueries({ queryKey: ["stats"], exact: true });
    for (const { topics, visible, catchUp } of this.#listeners.values()) {
      const follows = topics.includes("job") && visible?.length;
      if (follows ? this.#partial : uncounted) void catchUp?.(true);
    }
  }

  /** A page that is left and one that is opened say what they want in one word. */
  #wantSoon(): void {
    if (this.#wantPlanned) return;
    this.#wantPlanned = true;
    this.#judge();
    queueMicrotask(() => this.#want());
  }

  #want(): void {
    this.#wantPlanned = false;
    if (document.hidden && !this.#shared) {
      this.#port.postMessage({ type: "bye" });
      return;
    }
    const quiet = document.hidden || this.#link.paused;
    const wants: Want[] = [{ topics: ["counts"], visible: [] }];
    this.#n += 1;
    for (const listener of this.#listeners.values()) {
      if (quiet) {
        // What is told meanwhile is not heard.
        listener.covered = false;
        listener.n = Infinity;
      } else {
        if (!listener.covered) listener.n = Math.min(listener.n, this.#n);
        wants.push({ topics: [...listener.topics], visible: [...(listener.visible ?? [])] });
      }
    }
    this.#port.postMessage({ type: "want", want: together(wants), n: this.#n });
    this.#judge();
  }

  #visibility(): void {
    if (document.hidden) this.#batch.clear();
    else if (!this.#link.paused) this.reread();
    this.#want();
  }

  #receive(message: ToTab): void {
    switch (message.type) {
      case "link":
        // Whether this tab is paused or behind is its own matter.
        this.#setLink({ ...message.link, paused: this.#link.paused, behindSince: this.#link.behindSince });
        return;
      case "covered":
        this.#covered(message.n, message.already, message.partial);
        return;
      case "told":
        if (!this.#link.paused) this.#batch.push(message.told);
        return;
      case "gap":
        if (!this.#link.paused) this.reread();
        return;
      case "unauthenticated":
        void refreshLogin().then((known) => {
          if (known) this.authenticated();
        });
    }
  }

  #setLink(link: Link): void {
    this.#link = link;
    for (const changed of this.#subscribers) changed();
  }

  #apply(told: Told[]): void {
    const counts = told.findLast((one) => one.event === "counts");
    if (counts) {
      this.#countsAt = Date.now();
      // Counts have no verdict: the last one read stays until it is read again.
      this.#client.setQueryData<Stats>(["stats"], (before) => ({ verdict: before?.verdict, ...(counts.data as Stats) }));
    }
    for (const listener of this.#listeners.values()) {
      const mine = told.filter((one) => listener.topics.includes(topicOf(one.event)));
      if (mine.length > 0) listener.onTold?.(mine);
    }
  }
}

/** Reads what is shown again. A first read cannot be broken off: it is waited for and, unless it was `already` told, done once more. */
export async function readAgain(client: QueryClient, { predicate, ...rest }: QueryFilters, already = false): Promise<void> {
  const filters: QueryFilters = { ...rest, predicate: (query) => !isFixed(query.queryKey) && (predicate?.(query) ?? true) };
  const first = client.getQueryCache().findAll({ ...filters, type: "active" }).some(({ state }) => state.data === undefined && state.fetchStatus === "fetching");
  await client.invalidateQueries({ ...filters, refetchType: "active" });
  if (first && !already) await client.invalidateQueries({ ...filters, refetchType: "active" });
}

/** Whether it never changes: what went into a job. */
const isFixed = ([noun, , what]: QueryKey): boolean => noun === "jobs" && what === "payload";

/** Whether this is a list of jobs, whose rows change in place and whose new ones wait to be asked for. */
export const isJobList = ([noun, what]: QueryKey): boolean => noun === "jobs" && typeof what === "object" && what !== null && "q" in what;

/** The topic that an event belongs to. */
export function topicOf(event: string): Topic {
  switch (event) {
    case "attempt":
    case "lease_lost":
      return "attempt";
    case "worker":
    case "queue":
    case "operation":
    case "counts":
      return event;
    case "occurrence":
    case "schedule_overdue":
    case "schedule":
      return "schedule";
    default:
      return "job";
  }
}

/** The way to the holder of the stream, and whether other tabs share it. */
function openPort(receive: (message: ToTab) => void): [port: { postMessage(message: ToHolder): void }, shared: boolean] {
  const url = serverUrl("v1/events");
  if (typeof SharedWorker !== "undefined") {
    try {
      const worker = new SharedWorker(new URL("./worker.ts", import.meta.url), { type: "module", name: url });
      worker.port.onmessage = (event: MessageEvent<ToTab>) => receive(event.data);
      return [worker.port, true];
    } catch {
      // Some browsers refuse workers in private windows; the tab then holds its own stream.
    }
  }
  const holder = new Holder(url);
  const port = { postMessage: (message: ToTab) => queueMicrotask(() => receive(message)) };
  return [{ postMessage: (message) => holder.receive(port, message) }, false];
}

