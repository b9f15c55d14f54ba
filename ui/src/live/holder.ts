/**
 * Holds the one stream of events for all tabs of a browser.
 *
 * Runs in a shared worker, or in the tab itself where there are none. Browsers allow six connections to a server over all
 * tabs, so a stream per tab would starve the seventh tab, and the requests of the first six.
 */
import { backoffMs, DEAD_AFTER_MS, DELAYED_AFTER_MS, initialLink, type Link, type LinkEvent, nextLink } from "./connection";
import { covers, together, type Told, type ToHolder, type ToTab, type Want } from "./protocol";
import { FrameReader } from "./sse";

/** Scrolling changes what is wanted many times a second; the stream is opened again only when it rests. */
const SETTLE_MS = 250;
/** A tab that was not heard of for so long is gone. Hidden tabs are slowed to one timer a minute. */
const TAB_GONE_MS = 150_000;
const WATCH_MS = 5000;

export interface Port {
  postMessage(message: ToTab): void;
}

interface Tab {
  want: Want;
  /** The number of that want. */
  n: number;
  heardAt: number;
}

export class Holder {
  #tabs = new Map<Port, Tab>();
  #link: Link = initialLink(Date.now());
  #stream: AbortController | undefined;
  #open = "";
  /** When the last try began. */
  #triedAt = 0;
  #lastId: string | undefined;
  /** What the open stream tells. Nothing while there is none. */
  #told: Want | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether there was a stream before: only then something can have been missed. */
  #wasOpen = false;
  /** An older server that took over does not know how to narrow to the jobs on the screen. */
  #narrows = true;

  constructor(private readonly eventsUrl: string) {
    setInterval(() => this.#watch(), WATCH_MS);
  }

  receive(port: Port, message: ToHolder): void {
    if (message.type === "bye") {
      this.#tabs.delete(port);
      this.#settle();
      return;
    }
    const known = this.#tabs.get(port);
    const tab = known ?? { want: { topics: [], visible: [] }, n: 0, heardAt: 0 };
    tab.heardAt = Date.now();
    this.#tabs.set(port, tab);
    if (!known) port.postMessage({ type: "link", link: this.#link });
    if (message.type === "want") {
      tab.want = message.want;
      tab.n = message.n;
      this.#settle();
      this.#cover(port, tab, true);
    } else if (message.type === "retry") {
      this.#tell({ type: "network", online: message.online });
      if (message.online && this.#link.phase === "waiting") this.#schedule(0);
    } else if (message.type === "authenticated" && this.#link.phase !== "open") {
      this.#schedule(0);
    }
  }

  /** Opens the stream again if other things are wanted than it tells. */
  #settle(): void {
    if (this.#wanted() !== this.#open && this.#link.phase !== "waiting") this.#schedule(this.#open ? SETTLE_MS : 0);
  }

  #wants(): Want {
    const { topics, visible } = together([...this.#tabs.values()].map((tab) => tab.want));
    return this.#narrows ? { topics, visible } : { topics: topics.filter((topic) => topic !== "job" && topic !== "attempt"), visible: [] };
  }

  #wanted(): string {
    const { topics, visible } = this.#wants();
    if (topics.length === 0) return "";
    const query = new URLSearchParams({ topics: topics.join(",") });
    if (visible.length > 0) query.set("visible", visible.join(","));
    return `${this.eventsUrl}?${query.toString()}`;
  }

  /** Says that the open stream tells what a tab wants. One that does not is opened again soon; one that cannot tells a part. */
  #cover(port: Port, { want, n }: Tab, already: boolean): void {
    if (!this.#told) return;
    const whole = covers(this.#told, want);
    if (whole || this.#wanted() === this.#open) port.postMessage({ type: "covered", n, already, partial: !whole });
  }

  #schedule(delay: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#connect(), delay);
  }

  async #connect(): Promise<void> {
    this.#stream?.abort();
    const url = this.#wanted();
    this.#open = url;
    this.#triedAt = Date.now();
    if (url === "") {
      this.#told = undefined;
      return;
    }
    const stream = new AbortController();
    this.#stream = stream;
    const all = this.#wants();
    this.#told = undefined;
    // Another address is not a lost connection: nothing was missed that the server cannot tell again.
    if (this.#link.phase !== "open") this.#tell({ type: "connecting" });
    const narrowed = this.#narrows;
    try {
      await this.#read(url, stream.signal, () => {
        this.#told = all;
        for (const [port, tab] of this.#tabs) this.#cover(port, tab, false);
      });
    } catch {
      // How a stream ended does not matter, only that it did.
    }
    if (stream !== this.#stream) return;
    stream.abort();
    this.#stream = undefined;
    this.#open = "";
    this.#told = undefined;
    if (narrowed && !this.#narrows) {
      this.#schedule(0);
      return;
    }
    const delay = backoffMs(this.#link.failures, Math.random());
    this.#tell({ type: "lost", retryAt: Date.now() + delay });
    this.#schedule(delay);
  }

  /** The server listens before it answers: what happens after `onOpen` is told. */
  async #read(url: string, signal: AbortSignal, onOpen: () => void): Promise<void> {
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (this.#lastId !== undefined) headers["last-event-id"] = this.#lastId;
    const response = await fetch(url, { headers, signal, credentials: "same-origin", cache: "no-store" });
    if (response.status === 401) this.#send({ type: "unauthenticated" });
    if (response.status === 400 && url.includes("visible=")) this.#narrows = false;
    if (!response.ok || !response.body) throw new Error(`the stream was refused: ${response.status}`);
    // Without a place to go on from, nobody knows what was missed. A server that was lost may have begun again.
    const missed = this.#wasOpen && (this.#link.failures > 0 || headers["last-event-id"] === undefined);
    this.#wasOpen = true;
    // Tabs know what they have to read again before they hear that the stream is open.
    onOpen();
    if (missed) this.#send({ type: "gap" });
    this.#tell({ type: "opened", at: Date.now() });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const frames = new FrameReader();
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      this.#heard();
      this.#frames(frames.push(chunk.value));
    }
  }

  #frames(frames: { event: string; data: string; id: string | undefined }[]): void {
    const told: Told[] = [];
    for (const frame of frames) {
      if (frame.id !== undefined) this.#lastId = frame.id;
      const data: unknown = JSON.parse(frame.data);
      if (frame.event === "open") continue;
      if (frame.event === "gap") {
        this.#send({ type: "gap" });
      } else if (frame.event === "slow") {
        const every = (data as { interval_ms?: number }).interval_ms ?? 0;
        this.#tell({ type: "slow", everyMs: every, at: Date.now() });
      } else {
        told.push({ event: frame.event, data });
      }
    }
    if (told.length > 0) this.#send({ type: "told", told });
  }

  /** Tabs count the silence themselves: they need to know of a sound only now and then. */
  #heard(): void {
    const now = Date.now();
    if (now - this.#link.heardAt >= 1000) this.#tell({ type: "heard", at: now });
  }

  #tell(event: LinkEvent): void {
    this.#link = nextLink(this.#link, event);
    this.#send({ type: "link", link: this.#link });
  }

  #send(message: ToTab): void {
    for (const port of this.#tabs.keys()) port.postMessage(message);
  }

  /** Forgets tabs that went without a word, and a connection that only seems to be one. */
  #watch(): void {
    const now = Date.now();
    for (const [port, tab] of this.#tabs) if (now - tab.heardAt > TAB_GONE_MS) this.#tabs.delete(port);
    this.#settle();
    const silent = this.#link.phase === "open" && now - this.#link.heardAt > DEAD_AFTER_MS;
    // A server that hangs takes a connection and never answers: the next try may find another one.
    const unanswered = this.#link.phase === "connecting" && now - this.#triedAt > DELAYED_AFTER_MS;
    if (this.#open !== "" && (silent || unanswered)) this.#stream?.abort();
  }
}
