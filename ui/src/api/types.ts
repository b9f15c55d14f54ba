/** Short names for what the server answers. */
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Job = Schemas["JobBody"] & { state: State };
export type Attempt = Schemas["AttemptBody"];
export type Counts = Schemas["CountsBody"];
export type Stats = Schemas["StatsBody"];
export type Queue = Schemas["QueueBody"];
export type Worker = Schemas["WorkerBody"];
export type Schedule = Schemas["ScheduleBody"];
export type Operation = Schemas["OperationBody"];
export type Failure = Schemas["FailureBody"];
export type Failures = Schemas["FailuresBody"];
export type Kind = Schemas["KindBody"];
export type View = Schemas["ViewBody"];
export type Who = Schemas["WhoBody"];
export type Scan = Schemas["ScanBody"];
export type Explanation = Schemas["ExplainBody"];
export type Histogram = Schemas["HistogramBody"];
export type Preview = Schemas["PreviewBody"];
export type JobEvent = Schemas["JobEventBody"];

/** Where a job is, in the order of its life. */
export const STATES = [
  "scheduled",
  "blocked",
  "queued",
  "running",
  "retrying",
  "succeeded",
  "dead",
  "cancelled",
] as const;
export type State = (typeof STATES)[number];

/** States from which a job never starts again by itself. */
export const FINAL: readonly State[] = ["succeeded", "dead", "cancelled"];

/** How states are grouped in tabs and totals. */
export const GROUPS = {
  waiting: ["scheduled", "blocked", "queued"],
  active: ["running"],
  at_risk: ["retrying"],
  failed: ["dead"],
  done: ["succeeded"],
  cancelled: ["cancelled"],
} as const satisfies Record<string, readonly State[]>;
export type Group = keyof typeof GROUPS;

export const GROUP_LABEL: Record<Group, string> = {
  waiting: "Waiting",
  active: "Active",
  at_risk: "At risk",
  failed: "Failed",
  done: "Done",
  cancelled: "Cancelled",
};

/** What somebody may do. */
export const PERMISSIONS = [
  "read",
  "read_payload",
  "enqueue",
  "cancel",
  "replay",
  "settings",
  "purge",
  "schedule",
  "work",
  "audit",
  "admin",
] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** Jobs in these states, together. */
export function sumOf(counts: Counts, states: readonly State[]): number {
  return states.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
}
