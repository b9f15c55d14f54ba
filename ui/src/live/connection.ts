/**
 * The connection to the live events, as people see it: exactly five states.
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
/** A page that has just been opened has just read everything: it need not shout before it is connected. */
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
}

export type LinkEvent =
  | { type: "connecting" }
  | { type: "opened"; at: number }
  | { type: "heard"; at: number }
  | { type: "slow"; everyMs: number; at: number }
  | { type: "lost"; retryAt: number }
  | { type: "pause" }
  | { type: "resume"; at: number }
  | { type: "network"; online: boolean };

export function initialLink(now: number): Link {
  return { paused: false, phase: "connecting", failures: 0, retryAt: now, heardAt: now, slowMs: 0, online: true };
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
  }
}

/** What the chip shows. */
export type Chip =
  | { state: "live" }
  | { state: "paused" }
  | { state: "reconnecting"; seconds: number }
  | { state: "delayed"; seconds: number }
  | { state: "offline"; since: number };

export function chipOf(link: Link, now: number): Chip {
  if (link.paused) return { state: "paused" };
  if (link.phase !== "open") {
    if (!link.online || link.failures >= OFFLINE_AFTER_FAILURES) return { state: "offline", since: link.heardAt };
    if (link.failures === 0 && now - link.heardAt < GRACE_MS) return { state: "live" };
    const seconds = link.phase === "waiting" ? Math.max(0, Math.ceil((link.retryAt - now) / 1000)) : 0;
    return { state: "reconnecting", seconds };
  }
  const silence = now - link.heardAt;
  if (silence >= DELAYED_AFTER_MS) return { state: "delayed", seconds: Math.floor(silence / 1000) };
  if (link.slowMs > 0) return { state: "delayed", seconds: Math.max(1, Math.round(link.slowMs / 1000)) };
  return { state: "live" };
}

/** Whether what is shown may be out of date, so that the page must say so. */
export function isStale(chip: Chip): boolean {
  return chip.state !== "live";
}

/** How long to wait before the next try: 2 s, doubling to 30 s, and up to a quarter more so that tabs and browsers spread. */
export function backoffMs(failures: number, random: number): number {
  const base = Math.min(2000 * 2 ** Math.min(failures, 4), 30_000);
  return Math.round(base * (1 + random / 4));
}
