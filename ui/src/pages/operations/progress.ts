/** What a bulk operation is for, and how it went, in words. */
import type { Operation } from "@/api/types";
import { formatCount } from "@/design/format";
import type { Tone } from "@/pages/glyphs";

export function targetOf(operation: Operation): string {
  if (operation.filter) return operation.filter;
  if (operation.all) return "all jobs";
  return `${formatCount(operation.ids ?? 0)} ${operation.ids === 1 ? "job" : "jobs"} by id`;
}

/** "Replay: 12 jobs", and with its filter where nobody could count them. */
export function titleOf(operation: Operation): string {
  const verb = operation.action.charAt(0).toUpperCase() + operation.action.slice(1);
  const { total } = operation;
  return `${verb}: ${total == null ? targetOf(operation) : `${formatCount(total)} ${total === 1 ? "job" : "jobs"}`}`;
}

/** Jobs that it has looked at, done or skipped. */
export const touchedOf = (operation: Operation): number => operation.done + operation.skipped;

/** How long it will still take at its pace so far; not known without a total or a pace. */
export function leftMs(operation: Operation, now: number): number | undefined {
  const took = now - Date.parse(operation.created_at);
  const touched = touchedOf(operation);
  if (operation.state !== "running" || operation.total == null || touched === 0 || took < SHORT_MS) return undefined;
  return Math.max(0, operation.total - touched) * (took / touched);
}

export function toneOf({ state }: Operation): Tone {
  return state === "running" ? "well" : state === "cancelled" ? "warn" : "plain";
}

const REASON: Record<string, string> = {
  live: "were still active",
  final: "had ended already",
  changed: "changed meanwhile",
  gone: "were gone",
  unique_key_held: "have a unique key that another job holds",
  exec_not_allowed: "run commands, which needs the exec token",
};

/** Why jobs were skipped: "3 were over already, 1 was gone" with the most common first. */
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
