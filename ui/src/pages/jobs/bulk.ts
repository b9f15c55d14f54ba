/** What is done to many jobs at once: which, how it is said on the command line, and when it must be typed. */
import type { components } from "@/api/schema";
import { formatExact, shellWord } from "@/design";

export type Action = "replay" | "cancel" | "delete";

/** Which jobs are meant. Held by the dialog from the moment it opens. */
export type Target = { ids: readonly string[] } | { filter: string };

export const DEFAULT_RATE = 500;
export const MOST_RATE = 10_000;
/** Most jobs that can be named one by one. */
export const MOST_IDS = 1000;
/** More than this wants its number typed. */
const LARGE = 10_000;

export const VERB: Record<Action, string> = { replay: "Replay", cancel: "Cancel", delete: "Delete" };
export const DOING: Record<Action, string> = { replay: "Replaying", cancel: "Cancelling", delete: "Deleting" };
export const DONE: Record<Action, string> = { replay: "Replayed", cancel: "Cancelled", delete: "Deleted" };

type Request = components["schemas"]["OperationRequest"];

/** As the server wants it. An empty filter means all jobs, and that is said out loud. */
export function requestOf(action: Action, target: Target): Partial<Request> & { action: Action } {
  if ("ids" in target) return { action, ids: [...target.ids] };
  return target.filter === "" ? { action, all: true } : { action, filter: target.filter };
}

/** What must be typed before it is done: the number, if they are many or gone for ever. */
export function mustType(action: Action, count: number): string | undefined {
  return count > 0 && (action === "delete" || count > LARGE) ? String(count) : undefined;
}

/** "Replay 12 jobs", "Delete 1 job". */
export function label(action: Action, count: number): string {
  return `${VERB[action]} ${jobsOf(count)}`;
}

export function jobsOf(count: number): string {
  return `${formatExact(count)} ${count === 1 ? "job" : "jobs"}`;
}

export function commandOf(action: Action, target: Target, rate: number, reason: string): string {
  const words = ["ganger", "operation", "start", action];
  if ("ids" in target) for (const id of target.ids) words.push("--id", id);
  else if (target.filter === "") words.push("--all");
  else words.push("--filter", target.filter);
  if (rate !== DEFAULT_RATE) words.push("--rate", String(rate));
  if (reason) words.push("--reason", reason);
  return words.map(shellWord).join(" ");
}

const WHY: Record<string, string> = {
  live: "not ended yet",
  final: "ended already",
  changed: "changed meanwhile",
  gone: "not there any more",
  unique_key_held: "another job holds the unique key",
  exec_not_allowed: "commands, which need the exec token",
};

/** "3 skipped: 2 ended already, 1 not there any more". Nothing, if none was. */
export function skippedText(skipped: number, by: Record<string, number>): string {
  if (skipped === 0) return "";
  const parts = Object.entries(by).map(([reason, count]) => `${formatExact(count)} ${WHY[reason] ?? reason.replaceAll("_", " ")}`);
  return `${formatExact(skipped)} skipped${parts.length > 0 ? `: ${parts.join(", ")}` : ""}`;
}
