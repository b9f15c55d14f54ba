/**
 * The connection to the live events, as people see it: exactly six states.
 *
 * A frozen page must never pass for a calm one. So silence is noticed: the server says something every 15 s, and if it does
 * not, the page says so. Everything here is pure; the moment is given.
 */

/** A silent stream shows that it lives this often. */
export const HEARTBEAT_MS = 15_000;
/** So long a silence is a delay. */
export const DELAYED_AFTER_MS = 20_000;
/** So long a silence is a dead connection: it is closed and opened again. */
export const DEAD_AFTER_MS = 45_000;
/** So many failed tries in a row are more than a hiccup. */
export const OFFLINE_AFTER_FAILURES = 3;
/** A page that was just opened, or shows something else, catches up this long before it is marked as old. */
export const GRACE_MS = 2000;

/** What is known of the stream. */
export interface Link {
  paused: boolean;
  phase: "connecting" | "open" | "waiting";
  /** Failed tries since the stream was last open. */
  failures: number;
  /** When the next try is due, while waiting. */
  retryAt: number;
  /** When anything was last heard: until then what is shown is right. */
  heardAt: number;
  /** The server sheds load and speaks only this often. */
  slowMs: number;
  /** The browser says that there is a network. */
  online: boolean;
  /** Since when something on the page is not followed yet, or is being read again. A matter of the tab. */
  behindSince: number | undefined;
}

export type LinkEvent =
  | { type: "connecting" }
  | { type: "opened"; at: number }
  | { type: "heard"; at: number }
  | { type: "slow"; everyMs: number; at: number }
  | { type: "lost"; retryAt: number }
  | { type: "pause" }
  | { type: "resume"; at: number }
  | { type: "network"; online: boolean }
  | { type: "behind"; since: number | undefined };

export function initialLink(now: number): Link {
  return { paused: false, phase: "connecting", failures: 0, retryAt: now, heardAt: now, slowMs: 0, online: true, behindSince: now };
}

export function nextLink(link: Link, event: LinkEvent): Link {
  switch (event.type) {
    case "connecting":
      return { ...link, phase: "connecting" };
    case "opened":
      return { ...link, phase: "open", failures: 0, slowMs: 0, heardAt: event.at };
    case "heard":
      return link.phase === "open" ? { ...link, heardAt: event.at } : link;
    case "slow":
      return { ...link, slowMs: event.everyMs, heardAt: event.at };
    case "lost":
      return { ...link, phase: "waiting", failures: link.failures + 1, retryAt: event.retryAt, slowMs: 0 };
    case "pause":
      return { ...link, paused: true };
    case "resume":
      return { ...link, paused: false, heardAt: link.phase === "open" ? event.at : link.heardAt };
    case "network":
      return { ...link, online: event.online };
    case "behind":
      return { ...link, behindSince: event.since };
  }
}

/** What the chip shows. */
export type Chip =
  | { state: "live" }
  /** Connected or about to be; what is shown may have changed since it was read. */
  | { state: "updating"; late: boolean }
  | { state: "paused" }
  | { state: "reconnecting"; seconds: number }
  | { state: "delayed"; seconds: number }
  | { state: "offline"; since: number };

export function chipOf(link: Link, now: number): Chip {
  if (link.paused) return { state: "paused" };
  if (link.phase !== "open") {
    if (!link.online || link.failures >= OFFLINE_AFTER_FAILURES) return { state: "offline", since: link.heardAt };
    if (link.failures === 0 && now - link.heardAt < GRACE_MS) return { state: "updating", late: false };
    const seconds = link.phase === "waiting" ? Math.max(0, Math.ceil((link.retryAt - now) / 1000)) : 0;
    return { state: "reconnecting", seconds };
  }
  const silence = now - link.heardAt;
  if (silence >= DELAYED_AFTER_MS) return { state: "delayed", seconds: Math.floor(silence / 1000) };
  if (link.slowMs > 0) return { state: "delayed", seconds: Math.max(1, Math.round(link.slowMs / 1000)) };
  if (link.behindSince !== undefined) return { state: "updating", late: now - link.behindSince >= GRACE_MS };
  return { state: "live" };
}

/** Whether what is shown may be out of date, so that the page must say so. */
export function isStale(chip: Chip): boolean {
  return chip.state === "updating" ? chip.late : chip.state !== "live";
}

/** How long to wait before the next try: 2 s, doubling to 30 s, and up to a quarter more so that tabs and browsers spread. */
export function backoffMs(failures: number, random: number): number {
  const base = Math.min(2000 * 2 ** Math.min(failures, 4), 30_000);
  return Math.round(base * (1 + random / 4));
}
