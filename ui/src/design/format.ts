/** How numbers and times read. Every number has a unit; what is not known is a dash, never 0. */

export const UNKNOWN = "—";
/** Between a number and its unit, so that no line breaks there. */
const NBSP = "\u00a0";
const exact = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });

type Maybe = number | null | undefined;
const isKnown = (value: Maybe): value is number => typeof value === "number" && Number.isFinite(value);

/** `9,999` as it is; from 10,000 on `12.4 k`, `1.24 M`. */
export function formatCount(value: Maybe): string {
  if (!isKnown(value)) return UNKNOWN;
  if (Math.abs(value) < 10_000) return exact.format(value);
  return short(value);
}

/** With every digit, for tooltips and screen readers. */
export function formatExact(value: Maybe): string {
  return isKnown(value) ? exact.format(value) : UNKNOWN;
}

function short(value: number): string {
  for (const [size, unit] of [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const) {
    // What would round up to 1,000 of a unit is 1 of the next.
    if (Math.abs(value) >= size * 0.9995) return `${three(value / size)}${NBSP}${unit}`;
  }
  return exact.format(value);
}

/** Three digits that matter. */
function three(value: number): string {
  const size = Math.abs(value);
  const digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return value.toFixed(digits);
}

/** `1,284/s`, `0.4/s`; slower than one in a hundred seconds per minute. */
export function formatRate(perSecond: Maybe): string {
  if (!isKnown(perSecond)) return UNKNOWN;
  if (perSecond === 0) return "0/s";
  if (perSecond < 0.01) return `${three(perSecond * 60)}/min`;
  if (perSecond < 100) return `${three(perSecond).replace(/\.?0+$/, "")}/s`;
  return `${formatCount(perSecond)}/s`;
}

export function formatPercent(fraction: Maybe): string {
  if (!isKnown(fraction)) return UNKNOWN;
  const percent = fraction * 100;
  if (percent === 0 || percent === 100) return `${percent}${NBSP}%`;
  if (percent > 0 && percent < 0.05) return `<${NBSP}0.1${NBSP}%`;
  if (percent > 99.9 && percent < 100) return `>${NBSP}99.9${NBSP}%`;
  return `${percent < 10 ? percent.toFixed(1) : percent.toFixed(0)}${NBSP}%`;
}

export function formatBytes(bytes: Maybe): string {
  if (!isKnown(bytes)) return UNKNOWN;
  if (bytes < 1024) return `${bytes}${NBSP}B`;
  if (bytes < 1024 * 1024) return `${three(bytes / 1024)}${NBSP}KB`;
  return `${three(bytes / 1024 / 1024)}${NBSP}MB`;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `840 ms`, `12.4 s`, `3 m 20 s`, `2 d 4 h`. */
export function formatDuration(ms: Maybe): string {
  if (!isKnown(ms)) return UNKNOWN;
  if (ms < 0) return `-${formatDuration(-ms)}`;
  if (ms < 1) return ms === 0 ? `0${NBSP}ms` : `<${NBSP}1${NBSP}ms`;
  if (Math.round(ms) < SECOND) return `${Math.round(ms)}${NBSP}ms`;
  if (ms < MINUTE - 50) return `${(ms / SECOND).toFixed(1)}${NBSP}s`;
  return twoParts(ms);
}

function twoParts(ms: number): string {
  const seconds = Math.round(ms / SECOND);
  for (const [size, unit, small, smallUnit] of [
    [DAY, "d", HOUR, "h"],
    [HOUR, "h", MINUTE, "m"],
    [MINUTE, "m", SECOND, "s"],
  ] as const) {
    const whole = Math.floor((seconds * SECOND) / size);
    if (whole === 0) continue;
    const rest = Math.floor((seconds * SECOND - whole * size) / small);
    return rest === 0 ? `${whole}${NBSP}${unit}` : `${whole}${NBSP}${unit}${NBSP}${rest}${NBSP}${smallUnit}`;
  }
  return `${seconds}${NBSP}s`;
}

/** One part only, whole: `12 s`, `4 m`, `3 h`, `2 d`. */
function coarse(ms: number): string {
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)}${NBSP}s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}${NBSP}m`;
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)}${NBSP}h`;
  return `${Math.floor(ms / DAY)}${NBSP}d`;
}

/** `12 s ago`, `in 4 m`, `now`. */
export function formatRelative(at: number, now: number): string {
  const away = at - now;
  // Clocks of the server and the browser are never quite the same.
  if (Math.abs(away) < SECOND) return "now";
  return away > 0 ? `in${NBSP}${coarse(away)}` : `${coarse(-away)}${NBSP}ago`;
}

/** A zone as settings keep it: `local`, `UTC`, or a name of the IANA database. */
export type Zone = string;

const formats = new Map<string, Intl.DateTimeFormat>();

function format(zone: Zone, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone} ${JSON.stringify(options)}`;
  let found = formats.get(key);
  if (!found) {
    found = new Intl.DateTimeFormat("en-GB", { ...options, ...(zone === "local" ? {} : { timeZone: zone }) });
    formats.set(key, found);
  }
  return found;
}

/** `14:02:11`. */
export function formatClock(at: number, zone: Zone): string {
  return format(zone, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false }).format(at);
}

/** `2026-11-16 14:02:11`. */
export function formatAbsolute(at: number, zone: Zone): string {
  if (!Number.isFinite(at)) return UNKNOWN;
  const options = { year: "numeric", month: "2-digit", day: "2-digit" } as const;
  const parts = Object.fromEntries(format(zone, options).formatToParts(at).map((part) => [part.type, part.value]));
  return `${parts["year"]}-${parts["month"]}-${parts["day"]} ${formatClock(at, zone)}`;
}

/** `16 Nov`. */
export function formatDay(at: number, zone: Zone): string {
  return format(zone, { day: "numeric", month: "short" }).format(at);
}

/** What a zone is called in the head of a column: `UTC`, `Europe/Paris`. */
export function zoneName(zone: Zone): string {
  return zone === "local" ? Intl.DateTimeFormat().resolvedOptions().timeZone : zone;
}

/** A moment of the API, in milliseconds. */
export function parseTime(text: string | null | undefined): number | undefined {
  if (!text) return undefined;
  const at = Date.parse(text);
  return Number.isFinite(at) ? at : undefined;
}

/** The two ends of an id: `01J9…7QK5`. */
export function shortId(id: string): string {
  const bare = id.replace(/^[a-z]+_/, "");
  return bare.length <= 10 ? bare : `${bare.slice(0, 4)}…${bare.slice(-4)}`;
}
