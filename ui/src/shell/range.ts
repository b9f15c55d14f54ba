/** The time range of the whole page, kept in the address: `1h`, or `2026-11-16T13:00:00Z..2026-11-16T14:00:00Z`. */
import { useLocation, useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { useNow } from "@/design/clock";
import { formatAbsolute } from "@/design/format";
import { useHeld } from "@/live/pause";
import { useSettings } from "@/settings/settings";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const PRESETS = [
  ["15m", "Last 15 m", 15 * MINUTE],
  ["1h", "Last 1 h", HOUR],
  ["6h", "Last 6 h", 6 * HOUR],
  ["24h", "Last 24 h", DAY],
  ["7d", "Last 7 d", 7 * DAY],
  ["30d", "Last 30 d", 30 * DAY],
] as const;
export const DEFAULT_RANGE = "1h";
export const ANY_TIME = "Any time";

export interface TimeRange {
  text: string;
  from: number;
  to: number;
  /** It ends now and moves on. */
  moving: boolean;
}

/** What a text means at that moment. Whole minutes, so that asking again within one finds what was asked before. */
export function rangeOf(text: string | undefined, now: number): TimeRange {
  const preset = PRESETS.find(([name]) => name === text);
  const fixed = preset ? undefined : fixedRange(text);
  if (fixed && text) return { text, ...fixed, moving: false };
  const [name, , span] = preset ?? PRESETS[1];
  const to = Math.ceil(now / MINUTE) * MINUTE;
  return { text: name, from: to - span, to, moving: true };
}

function fixedRange(text: string | undefined): { from: number; to: number } | undefined {
  const [from, to] = (text ?? "").split("..").map((part) => Date.parse(part)) as [number, number | undefined];
  return Number.isFinite(from) && to !== undefined && to > from ? { from, to } : undefined;
}

/** A step that gives about sixty points, as the server takes it. */
export function stepOf({ from, to }: { from: number; to: number }): string {
  const wanted = (to - from) / 60;
  const steps = [1, 5, 15, 60, 180, 720, 1440];
  return `${steps.find((minutes) => minutes * MINUTE >= wanted) ?? 1440}m`;
}

export function rangeLabel(range: TimeRange, zone: string): string {
  const preset = PRESETS.find(([name]) => name === range.text);
  return preset ? preset[1] : `${formatAbsolute(range.from, zone).slice(5, 16)} – ${formatAbsolute(range.to, zone).slice(5, 16)}`;
}

/** The range of the page, and how to choose another one. */
export function useTimeRange() {
  const { range: text } = useSearch({ strict: false }) as { range?: string };
  const navigate = useNavigate();
  const { zone } = useSettings();
  const { pathname } = useLocation();
  // The list of jobs has no bound in time unless one is chosen.
  const unbounded = /^\/jobs\/?$/.test(pathname);
  const range = rangeOf(text, useHeld(useNow()));
  const choose = useCallback(
    (chosen: string | undefined) =>
      void navigate({ to: ".", search: (before) => ({ ...before, range: chosen === DEFAULT_RANGE && !unbounded ? undefined : chosen }) }),
    [navigate, unbounded],
  );
  /** From a chart: seconds since 1970. */
  const zoom = useCallback(
    (from: number, to: number) => {
      const iso = (seconds: number) => new Date(Math.round(seconds) * 1000).toISOString().replace(".000Z", "Z");
      choose(`${iso(from)}..${iso(Math.max(to, from + 60))}`);
    },
    [choose],
  );
  return { ...range, label: unbounded && text === undefined ? ANY_TIME : rangeLabel(range, zone), unbounded: unbounded && text === undefined, choose, zoom, reset: useCallback(() => choose(undefined), [choose]) };
}
