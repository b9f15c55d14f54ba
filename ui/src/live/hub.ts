/**
 * The page's end of the live events.
 *
 * Listeners say what they want; all wants together go to the holder of the stream. What is told comes in batches, at most
 * four times a second. Counts are absolute and always flow; everything else stops while the tab is hidden or paused, and is
 * read again afterwards.
 */
import type { QueryClient, QueryKey } from "@tanstack/react-query";
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
}

export class Hub {
  #client: QueryClient;
  #port: { postMessage(message: ToHolder): void };
  /** Whether one stream serves all tabs. Where it cannot, only the tab in sight has one: on a phone, that is one for the browser. */
  #shared: boolean;
  #listeners = new Map<symbol, Listener>();
  #subscribers = new Set<() => void>();
  #rereaders = new Set<() => void>();
  #link: Link = initialLink(Date.now());
  #rereadAt = 0;
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
  }

  /** Begins to listen; what it gives back ends it. */
  listen(listener: Listener): () => void {
    const key = Symbol("listener");
    this.#listeners.set(key, listener);
    this.#want();
    return () => {
      this.#listeners.delete(key);
      this.#want();
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
  onReread(reread: () => void): () => void {
    this.#rereaders.add(reread);
    return () => this.#rereaders.delete(reread);
  }

  /** Reads everything on the page again: something was missed. But for lists of jobs, which new ones would shift. */
  reread(): void {
    const now = Date.now();
    if (now < this.#rereadAt) return;
    this.#rereadAt = now + REREAD_EVERY_MS;
    setTimeout(() => {
      void this.#client.invalidateQueries({ refetchType: "active", predicate: ({ queryKey }) => !isJobList(queryKey) });
      for (const reread of this.#rereaders) reread();
    }, 0);
  }

  #want(): void {
    if (document.hidden && !this.#shared) {
      this.#port.postMessage({ type: "bye" });
      return;
    }
    const quiet = document.hidden || this.#link.paused;
    const wants: Want[] = [{ topics: ["counts"], visible: [] }];
    if (!quiet) {
      for (const { topics, visible } of this.#listeners.values()) {
        wants.push({ topics: [...topics], visible: [...(visible ?? [])] });
      }
    }
    this.#port.postMessage({ type: "want", want: together(wants) });
  }

  #visibility(): void {
    if (document.hidden) this.#batch.clear();
    else if (!this.#link.paused) this.reread();
    this.#want();
  }

  #receive(message: ToTab): void {
    switch (message.type) {
      case "link": {
        const back = this.#link.phase !== "open" && message.link.phase === "open" && this.#link.failures > 0;
        // Whether this tab is paused is its own matter.
        this.#setLink({ ...message.link, paused: this.#link.paused });
        if (back && !this.#link.paused) this.reread();
        return;
      }
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
      // Counts have no verdict: the last one read stays until it is read again.
      this.#client.setQueryData<Stats>(["stats"], (before) => ({ verdict: before?.verdict, ...(counts.data as Stats) }));
    }
    for (const listener of this.#listeners.values()) {
      const mine = told.filter((one) => listener.topics.includes(topicOf(one.event)));
      if (mine.length > 0) listener.onTold?.(mine);
    }
  }
}

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

