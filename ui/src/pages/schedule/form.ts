/** A schedule as a form, and what is sent of it. */
import type { Schedule } from "@/api/types";
import { shellWord } from "@/design/CopyButton";

export interface ScheduleForm {
  name: string;
  rule: "cron" | "every" | "at";
  cron: string;
  every: string;
  at: string;
  time_zone: string;
  kind: string;
  queue: string;
  /** JSON as it was typed, with every digit. */
  payload: string;
  overlap: string;
  misfire: string;
  jitter: string;
}

export const NEW: ScheduleForm = {
  name: "",
  rule: "cron",
  cron: "0 3 * * *",
  every: "15m",
  at: "",
  time_zone: "UTC",
  kind: "",
  queue: "default",
  payload: "",
  overlap: "skip",
  misfire: "fire_once",
  jitter: "0s",
};

/** `payload` is the JSON of the payload as the server wrote it. */
export function formOf(schedule: Schedule, payload: string): ScheduleForm {
  return {
    name: schedule.name,
    rule: schedule.cron ? "cron" : schedule.at ? "at" : "every",
    cron: schedule.cron ?? "",
    every: schedule.every === undefined || schedule.every === null ? "" : String(schedule.every),
    at: schedule.at ?? "",
    time_zone: schedule.time_zone,
    kind: schedule.job.kind,
    queue: schedule.job.queue ?? "default",
    payload,
    overlap: schedule.overlap,
    misfire: schedule.misfire,
    jitter: String(schedule.jitter),
  };
}

/** What is wrong with the payload, if it is not JSON. */
export function payloadProblem(text: string): string | undefined {
  if (text.trim() === "") return undefined;
  try {
    JSON.parse(text);
    return undefined;
  } catch (thrown) {
    return `This is not JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
}

/**
 * The request as text, so that the payload goes out as it was typed. What the form does not show of `before` (tags, retries,
 * when it starts and ends) stays as it is.
 */
export function requestOf(form: ScheduleForm, before?: Schedule): string {
  const { payload: _, ...job } = before?.job ?? { kind: "" };
  const head: Record<string, unknown> = {
    name: form.name.trim(),
    [form.rule]: form[form.rule].trim(),
    overlap: form.overlap,
    misfire: form.misfire,
    jitter: form.jitter.trim() || "0s",
    ...(form.rule === "cron" ? { time_zone: form.time_zone.trim() || "UTC" } : {}),
  };
  for (const kept of ["starts_at", "ends_at"] as const) if (before?.[kept]) head[kept] = before[kept];
  if (before?.misfire_window && form.misfire === "fire_all") head["misfire_window"] = before.misfire_window;
  const jobText = JSON.stringify({ ...job, kind: form.kind.trim(), queue: form.queue.trim() || "default" });
  const withPayload = form.payload.trim() === "" ? jobText : `${jobText.slice(0, -1)},"payload":${form.payload.trim()}}`;
  return `${JSON.stringify(head).slice(0, -1)},"job":${withPayload}}`;
}

/** The same in a terminal. */
export function cliOf(form: ScheduleForm): string {
  const parts = ["ganger schedule create", shellWord(form.name.trim() || "NAME"), `--${form.rule}`, shellWord(form[form.rule].trim())];
  if (form.rule === "cron" && form.time_zone.trim() !== "UTC") parts.push("--zone", shellWord(form.time_zone.trim()));
  parts.push("--kind", shellWord(form.kind.trim() || "KIND"));
  if (form.queue.trim() !== "default") parts.push("--queue", shellWord(form.queue.trim()));
  if (form.payload.trim()) parts.push("--payload", shellWord(form.payload.trim()));
  if (form.overlap !== NEW.overlap) parts.push("--overlap", form.overlap);
  if (form.misfire !== NEW.misfire) parts.push("--misfire", form.misfire);
  if (form.jitter.trim() && form.jitter.trim() !== NEW.jitter) parts.push("--jitter", shellWord(form.jitter.trim()));
  return parts.join(" ");
}
