import { describe, expect, it } from "vitest";
import type { Schedule } from "@/api/types";
import { cronInEnglish, ruleInEnglish } from "./english";
import { cliOf, formOf, NEW, payloadProblem, requestOf } from "./form";
import { overlapWarning } from "./overlap";

describe("a cron expression in English", () => {
  it.each([
    ["0 3 * * *", "Every day at 03:00"],
    ["30 9 * * 1-5", "Weekdays at 09:30"],
    ["30 9 * * MON-FRI", "Weekdays at 09:30"],
    ["30 4 * * 1", "Mondays at 04:30"],
    ["0 0 * * 0,6", "Weekends at 00:00"],
    ["0 0 * * 7", "Sundays at 00:00"],
    ["*/15 * * * *", "Every 15 minutes"],
    ["*/5 * * * 1-5", "Every 5 minutes, weekdays"],
    ["* * * * *", "Every minute"],
    ["0 * * * *", "Every hour, on the hour"],
    ["20 */6 * * *", "Every 6 hours, at 20 past"],
    ["0 9,17 * * *", "Every day at 09:00 and 17:00"],
    ["0 0 1 * *", "On the 1st of every month at 00:00"],
    ["0 0 1,15 3 *", "On the 1st and 15th of March at 00:00"],
    ["0 6 * JAN,FEB *", "Every day in January and February at 06:00"],
    ["@daily", "Every day at 00:00"],
    ["0 30 2 * * *", "Every day at 02:30"],
  ])("%s is %s", (cron, english) => expect(cronInEnglish(cron)).toBe(english));

  it.each(["", "nonsense", "0 0 13 * 5", "1-59 * * * *", "0 0 L * *", "0 0 * * 1#2", "0 0 1--100000000 * *", "10 30 2 * * *", "0 0 * 13 *"])("%s is left as it is written", (cron) =>
    expect(cronInEnglish(cron)).toBeUndefined(),
  );

  it("names the zone where it matters", () => {
    expect(ruleInEnglish({ cron: "0 3 * * *", time_zone: "Europe/Paris" })).toBe("Every day at 03:00 Europe/Paris");
    expect(ruleInEnglish({ every: "15m", time_zone: "UTC" })).toBe("Every 15m");
    expect(ruleInEnglish({ cron: "0 0 13 * 5", time_zone: "UTC" })).toBe("0 0 13 * 5 UTC");
  });
});

describe("the form of a schedule", () => {
  const schedule = {
    name: "report",
    cron: "0 3 * * *",
    time_zone: "Europe/Paris",
    misfire: "fire_once",
    overlap: "skip",
    jitter: "0s",
    paused: true,
    starts_at: "2026-01-01T00:00:00Z",
    job: { kind: "echo", queue: "reports", tags: ["a"], payload: { big: 1 } },
  } as unknown as Schedule;

  it("sends the payload with every digit, and keeps what it does not show", () => {
    const form = formOf(schedule, '{"big": 12345678901234567890}');
    const text = requestOf(form, schedule);
    expect(text).toContain('"payload":{"big": 12345678901234567890}');
    expect(JSON.parse(text)).toMatchObject({ name: "report", cron: "0 3 * * *", time_zone: "Europe/Paris", starts_at: "2026-01-01T00:00:00Z", job: { kind: "echo", queue: "reports", tags: ["a"] } });
    expect(JSON.parse(text)).not.toHaveProperty("paused");
    expect(JSON.parse(text)).not.toHaveProperty("every");
  });

  it("leaves a payload out that is empty, and refuses what is no JSON", () => {
    expect(JSON.parse(requestOf({ ...NEW, name: "x", kind: "noop" })).job).toEqual({ kind: "noop", queue: "default" });
    expect(payloadProblem("")).toBeUndefined();
    expect(payloadProblem("[1]")).toBeUndefined();
    expect(payloadProblem("{")).toMatch(/not JSON/);
  });

  it("says what one would type", () => {
    expect(cliOf({ ...NEW, name: "tick", rule: "every", every: "5m", kind: "noop" })).toBe("ganger schedule create tick --every 5m --kind noop");
    expect(cliOf({ ...NEW, name: "n", kind: "echo", time_zone: "Europe/Paris", payload: "{}" })).toBe("ganger schedule create n --cron '0 3 * * *' --zone Europe/Paris --kind echo --payload '{}'");
  });
});

it("warns of a schedule that fires before its jobs have ended", () => {
  const instants = ["2026-11-16T10:00:00Z", "2026-11-16T10:01:00Z", "2026-11-16T10:03:00Z"].map((at) => ({ at }));
  expect(overlapWarning(instants, 95_000, "report", "skip")).toBe("It fires every 1\u00a0m, and jobs of report take up to 1\u00a0m\u00a035\u00a0s (p95 of the last day): some of its instants will be skipped.");
  expect(overlapWarning(instants, 60_000, "report", "skip")).toBeUndefined();
  expect(overlapWarning(instants, null, "report", "skip")).toBeUndefined();
  expect(overlapWarning(instants.slice(0, 1), 95_000, "report", "skip")).toBeUndefined();
});
