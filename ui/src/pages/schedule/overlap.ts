/** Whether a schedule fires more often than its jobs take, and what that means. Pure. */
import { formatDuration } from "@/design/format";

const THEN: Record<string, string> = {
  skip: "some of its instants will be skipped",
  allow: "its jobs will run side by side",
  queue_one: "one will wait and those after it will be skipped",
  cancel_previous: "jobs will be cancelled before they end",
};

/** The shortest time between two instants. */
export function shortestGap(instants: readonly { at: string }[]): number | undefined {
  const times = instants.map(({ at }) => Date.parse(at));
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? at));
  return gaps.length > 0 ? Math.min(...gaps) : undefined;
}

/** One sentence, if there is something to say. */
export function overlapWarning(instants: readonly { at: string }[], p95: number | null | undefined, kind: string, policy: string): string | undefined {
  const gap = shortestGap(instants);
  if (gap === undefined || p95 == null || p95 <= gap) return undefined;
  return `It fires every ${formatDuration(gap)}, and jobs of ${kind} take up to ${formatDuration(p95)} (p95 of the last day): ${THEN[policy] ?? "its jobs will overlap"}.`;
}
