/** What can be said of groups of failures. Pure. */
import type { Failure, Failures } from "@/api/types";
import { formatExact } from "@/design/format";
import { parseJson, type Node, prettyJson } from "@/design/json";
import { stepSeconds } from "@/pages/analytics/figures";
import type { TimeRange } from "@/shell/range";

export const jobCount = (count: number): string => `${formatExact(count)} ${count === 1 ? "job" : "jobs"}`;

/** The window that the server is asked for: it always ends now, so a range of the past begins it. */
export function windowOf(range: TimeRange, now: number): string {
  if (range.moving) return range.text;
  return `${Math.max(1, Math.ceil((now - range.from) / 60_000))}m`;
}

/** What a group did in a range. */
export interface Lately {
  /** Attempts that failed so. */
  count: number;
  /** The same for each step. */
  trend: readonly number[];
  /** What part of its kind's attempts that is; nothing if it is not known. */
  share: number | undefined;
}

/** What a group did in a range; nothing if that is longer ago than failures are counted over time. */
export function lately(group: Failure, window: Failures["window"], range: Pick<TimeRange, "from" | "to" | "moving">): Lately | undefined {
  const { recent } = group;
  if (!recent || !window) return undefined;
  if (range.moving) return { count: recent.count, trend: recent.trend, share: recent.share ?? undefined };
  // The window of a past range reaches until now: only the steps of the range count, and of its kind's attempts there is only the whole.
  const [first, step] = [Date.parse(window.from), stepSeconds(window.step) * 1000];
  const trend = recent.trend.filter((_, index) => first + (index + 1) * step > range.from && first + index * step < range.to);
  return { count: trend.reduce((sum, count) => sum + count, 0), trend, share: undefined };
}

/** A trend as it is drawn: a step that still runs, and is lower than the one before it, would only look like a fall. */
export function drawn(trend: readonly number[]): readonly number[] {
  const [before, running] = trend.slice(-2);
  return trend.length > 2 && running !== undefined && before !== undefined && running < before ? trend.slice(0, -1) : trend;
}

/** Groups of a range: those that were seen in it. Of one that was seen later too, and is not counted over time, it is not known, so it stays. */
export function inRange({ items, window }: Failures, range: TimeRange): Failure[] {
  if (range.moving) return [...items];
  const seen = items.filter((group) => Date.parse(group.first_at) <= range.to && Date.parse(group.last_at) >= range.from);
  return seen.filter((group) => lately(group, window, range)?.count !== 0);
}

/** A group is new if it was never seen before the range. */
export const isNew = (group: Failure, range: { from: number }): boolean => Date.parse(group.first_at) >= range.from;

/** The first line of an error, as its class and what it says: `TimeoutError` and `smtp did not answer`. */
export function splitError(error: string): { name: string | undefined; text: string } {
  const line = error.split("\n", 1)[0] ?? "";
  const match = /^([A-Za-z_][\w.]*(?:Error|Exception|Timeout|Refused|Interrupt|Failure)|[A-Z]\w+(?:::\w+)+): (.+)$/.exec(line);
  return match ? { name: match[1], text: match[2] ?? "" } : { name: undefined, text: line };
}

/** Groups whose error or kind has this text. */
export function search(groups: readonly Failure[], text: string): Failure[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [...groups];
  return groups.filter((group) => `${group.kind} ${group.error} ${group.fingerprint}`.toLowerCase().includes(wanted));
}

/** How often each value comes, the most frequent first. */
export function tally(values: readonly (string | null | undefined)[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value ?? "none", (counts.get(value ?? "none") ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a));
}

export interface Sample {
  id: string;
  payload: Node | undefined;
}

/** The jobs of a list with their payloads, every digit kept. */
export function samplesOf(text: string): Sample[] {
  const items = entry(parseJson(text), "items");
  if (items?.type !== "array") return [];
  return items.items.flatMap((item) => {
    const id = entry(item, "id");
    return id?.type === "string" ? [{ id: id.value, payload: entry(item, "payload") }] : [];
  });
}

const entry = (node: Node | undefined, key: string): Node | undefined =>
  node?.type === "object" ? node.entries.find((each) => each.key === key)?.value : undefined;

export interface Compared {
  path: string;
  /** One text for each sample; nothing where the payload has no such value. */
  values: (string | undefined)[];
  /** All samples have the same value. */
  same: boolean;
}

/** Paths of a payload that are looked at; the rest would not fit a screen. */
const MOST_PATHS = 200;

/** What payloads share and where they differ: shared values first, then paths in the order in which they come. */
export function compare(samples: readonly Sample[]): Compared[] {
  const paths = new Map<string, (string | undefined)[]>();
  for (const [index, sample] of samples.entries()) {
    if (sample.payload) walk(sample.payload, "payload", (path, value) => {
      let values = paths.get(path);
      if (!values) {
        if (paths.size >= MOST_PATHS) return;
        values = samples.map(() => undefined);
        paths.set(path, values);
      }
      values[index] = value;
    });
  }
  const rows = [...paths].map(([path, values]) => ({ path, values, same: values.every((value) => value !== undefined && value === values[0]) }));
  return [...rows.filter((row) => row.same), ...rows.filter((row) => !row.same)];
}

function walk(node: Node, path: string, visit: (path: string, value: string) => void): void {
  if (node.type === "object" && node.entries.length > 0) {
    for (const each of node.entries) walk(each.value, `${path}.${each.key}`, visit);
  } else if (node.type === "array" && node.items.length > 0 && node.items.length <= 20) {
    for (const [index, item] of node.items.entries()) walk(item, `${path}.${index}`, visit);
  } else {
    visit(path, node.type === "array" && node.items.length > 20 ? `${node.items.length} items` : prettyJson(node));
  }
}
