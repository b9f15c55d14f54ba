/** Numbers and times on the page: one way to show each. */
import type { ReactNode } from "react";
import { changeSettings, useSettings } from "@/settings/settings";
import { useNow } from "./clock";
import { CopyButton } from "./CopyButton";
import {
  formatAbsolute,
  formatCount,
  formatDuration,
  formatExact,
  formatRate,
  formatRelative,
  parseTime,
  UNKNOWN,
} from "./format";
import { Tooltip } from "./Tooltip";

type Maybe = number | null | undefined;

/** A count. Shortened from 10,000 on; every digit on hover and for screen readers. `unit` is for those who only hear it. */
export function Num({ value, unit }: { value: Maybe; unit?: string }) {
  const shown = formatCount(value);
  const all = `${formatExact(value)}${unit ? ` ${unit}` : ""}`;
  if (shown === all) return <span>{shown}</span>;
  return (
    <span title={all}>
      <span aria-hidden="true">{shown}</span>
      <span className="sr-only">{all}</span>
    </span>
  );
}

export const Rate = ({ perSecond }: { perSecond: Maybe }) => <span>{formatRate(perSecond)}</span>;

export const Duration = ({ ms }: { ms: Maybe }) => <span>{formatDuration(ms)}</span>;

/** How long something has lasted; ticks with the page's clock. */
export function Elapsed({ since }: { since: string | null | undefined }) {
  const now = useNow();
  const at = parseTime(since);
  return <span>{at === undefined ? UNKNOWN : formatDuration(Math.floor(Math.max(0, now - at) / 1000) * 1000)}</span>;
}

/** A moment: relative, and on a click absolute everywhere. The tooltip has local time, UTC, and ISO to copy. */
export function Time({ at, fallback }: { at: string | null | undefined; fallback?: ReactNode }) {
  const moment = parseTime(at);
  if (moment === undefined || !at) return <span>{fallback ?? UNKNOWN}</span>;
  return <Moment at={at} moment={moment} />;
}

function Moment({ at, moment }: { at: string; moment: number }) {
  const { zone, absoluteTimes } = useSettings();
  const now = useNow();
  return (
    <Tooltip
      content={
        <span className="grid grid-cols-[max-content_1fr_auto] items-center gap-x-3">
          <span className="text-muted">Local</span>
          <span className="col-span-2">{formatAbsolute(moment, "local")}</span>
          <span className="text-muted">UTC</span>
          <span className="col-span-2">{formatAbsolute(moment, "UTC")}</span>
          <span className="text-muted">ISO</span>
          <code>{at}</code>
          <CopyButton text={at} label="Copy ISO time" />
        </span>
      }
    >
      <button
        type="button"
        className="-mx-1 -my-0.5 min-h-6 rounded-chip px-1 text-left align-baseline whitespace-nowrap hover:bg-raised"
        onClick={(event) => {
          event.stopPropagation();
          changeSettings({ absoluteTimes: !absoluteTimes });
        }}
      >
        <time dateTime={at}>{absoluteTimes ? formatAbsolute(moment, zone) : formatRelative(moment, now)}</time>
      </button>
    </Tooltip>
  );
}
