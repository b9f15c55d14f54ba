/** What stands under a chart: clocks, and days where a clock alone would come twice. Pure. */
import { formatAbsolute, formatClock, formatDay } from "./format";

const DAY = 86_400;
/** Letters of 12 px: `14:02`, and `14:02:30` with some room between two of them. */
const MINUTES_PX = 56;
const SECONDS_PX = 88;

/** How far labels are apart at the least. Those with seconds are longer. */
export function labelSpace(seconds: number, width: number): number {
  return width > 0 && (seconds / width) * SECONDS_PX < 60 ? SECONDS_PX : MINUTES_PX;
}

/** Hours and minutes; seconds too where labels would be the same without them, and the day where one begins. */
export function axisLabels(splits: readonly number[], zone: string): string[] {
  const step = splits.length > 1 ? (splits[1] ?? 0) - (splits[0] ?? 0) : 60;
  return splits.map((at) => {
    const clock = formatClock(at * 1000, zone);
    if (step >= DAY || (clock === "00:00:00" && step >= 60)) return formatDay(at * 1000, zone);
    return clock.slice(0, step < 60 ? 8 : 5);
  });
}

/** The moment under the crosshair: the clock, with the day where the chart has several. */
export function momentLabel(times: readonly number[], index: number, zone: string): string {
  const at = (times[index] ?? 0) * 1000;
  const long = (times.at(-1) ?? 0) - (times[0] ?? 0) > DAY;
  return long ? formatAbsolute(at, zone).slice(0, 16) : formatClock(at, zone);
}
