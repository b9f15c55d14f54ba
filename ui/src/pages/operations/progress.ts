/** What a bulk operation is for, and how it went, in words. */
import type { Operation } from "@/api/types";
import { formatCount } from "@/design/format";
import type { Tone } from "@/pages/glyphs";

export function targetOf(operation: Operation): string {
  if (operation.filter) return operation.filter;
  if (operation.all) return "all jobs";
  return `${formatCount(operation.ids ?? 0)} ${operation.ids === 1 ? "job" : "jobs"} by id`;
}

export function toneOf({ state }: Operation): Tone {
  return state === "running" ? "well" : state === "cancelled" ? "warn" : "plain";
}

const REASON: Record<string, string> = {
  live: "were not over",
  final: "were over already",
  changed: "changed meanwhile",
  gone: "were gone",
  unique_key_held: "have a unique key that another job holds",
  exec_not_allowed: "run commands, which needs the exec token",
};

/** Why jobs were left alone: "3 were over already, 1 was gone" with the most common first. */
export function skippedInWords(operation: Operation): string[] {
  return (Object.entries(operation.skipped_by) as [string, number][])
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([reason, count]) => {
      const words = REASON[reason] ?? reason.replaceAll("_", " ");
      return `${formatCount(count)} ${count === 1 ? words.replace(/^were /, "was ").replace(/^have /, "has ") : words}`;
    });
}

/** Less than this says nothing about a pace. */
const SHORT_MS = 1000;

/** Jobs per second so far, over the time it has taken; not known of one that took no time. */
export function paceOf(operation: Operation, now: number): number | undefined {
  const took = (operation.finished_at ? Date.parse(operation.finished_at) : now) - Date.parse(operation.created_at);
  return took >= SHORT_MS ? operation.done / (took / 1000) : undefined;
}
