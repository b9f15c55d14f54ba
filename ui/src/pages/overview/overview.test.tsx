// @vitest-environment jsdom
import { expect, it } from "vitest";
import type { Queue, Schedule } from "@/api/types";
import type { Timeseries } from "@/pages/analytics/figures";
import { marksOf } from "./happened";
import { nextUp } from "./NextUp";
import { addressLines, bare, firstCommand, isOwn, snippetsOf } from "./snippets";
import { drainText } from "./Tiles";
import { badness, queueRows } from "./worst";

const queue = (name: string, oldest: number | null, paused = false) => ({ queue: name, oldest_ready_ms: oldest, paused, draining: false, jobs: {}, workers: 1 }) as unknown as Queue;
const lines = (counts: Record<string, number[]>) =>
  ({ series: Object.entries(counts).map(([name, values]) => ({ name, total: { count: values.reduce((a, b) => a + b, 0) }, points: values.map((count) => ({ at: "", count })) })) }) as unknown as Timeseries;

it("puts the queue whose first job waits longest first, more so if it grows", () => {
  const came = lines({ slow: [0, 0, 0], growing: [900, 900, 900] });
  const ended = lines({ slow: [0, 0, 0], growing: [0, 0, 0], calm: [50, 50, 50] });
  const rows = queueRows([queue("calm", 20), queue("slow", 60_000), queue("growing", 30_000), queue("held", 600_000, true)], { came, ended }, 5);
  expect(rows.map((row) => row.queue.queue)).toEqual(["growing", "slow", "held", "calm"]);
});

it("puts a queue in which everything fails before those that wait a little", () => {
  const counts = { bad: [100], good: [100] };
  const failed = lines({ bad: [100], good: [0] });
  const rows = queueRows([queue("good", 30_000), queue("bad", null)], { ended: lines(counts), ran: lines(counts), failed }, 1);
  expect(rows.map((row) => row.queue.queue)).toEqual(["bad", "good"]);
});

it("does not call bad what always waits a moment", () => {
  expect(badness({ queue: queue("a", 900), growth: 100 })).toBe(0);
  expect(badness({ queue: queue("a", null), growth: 100 })).toBe(0);
});

it("knows a rate of nothing from a rate that is not known yet", () => {
  expect(queueRows([queue("a", null)], {}, 5)[0]?.perSecond).toBeUndefined();
  expect(queueRows([queue("a", null)], { ended: lines({}) }, 5)[0]?.perSecond).toBe(0);
  expect(queueRows([queue("a", null)], { ended: lines({ a: [150, 150] }) }, 5)[0]?.perSecond).toBe(0.5);
  // The same window as the tiles: five whole minutes, not the hour, and not the minute that still runs.
  expect(queueRows([queue("a", null)], { ended: lines({ a: [9000, 30, 30, 30, 30, 30, 7] }) }, 1)[0]?.perSecond).toBe(0.5);
});

it("names the schedules that fire next, and none that cannot", () => {
  const schedule = (name: string, next: string | null, paused = false) => ({ name, paused, status: { next } }) as unknown as Schedule;
  const all = [schedule("late", "2026-11-17T00:00:00Z"), schedule("soon", "2026-11-16T23:00:00Z"), schedule("paused", "2026-11-16T22:00:00Z", true), schedule("over", null)];
  expect(nextUp(all).map((each) => each.name)).toEqual(["soon", "late"]);
});

it("says what becomes of a backlog", () => {
  expect(drainText({ state: "draining", ms: 200_000 })).toBe("drains in 3\u00a0m\u00a020\u00a0s at this rate");
  expect(drainText({ state: "growing", perSecond: 4 })).toBe("grows by 4/s");
  expect(drainText({ state: "empty" })).toBe("nothing waiting");
});

it("writes workers of at most twelve lines that find this server", () => {
  for (const authentication of [false, true]) {
    for (const snippet of snippetsOf("http://10.0.0.7:9000/", authentication)) {
      expect(snippet.code.split("\n").length).toBeLessThanOrEqual(12);
      expect([...snippet.before, snippet.code].join("\n").includes("GANGER_TOKEN")).toBe(authentication);
    }
  }
  for (const id of ["rust", "curl"]) expect(snippetsOf("http://10.0.0.7:9000/", false).find((snippet) => snippet.id === id)?.code).toContain("http://10.0.0.7:9000");
  // The others find it by what was exported first.
  expect(addressLines("http://10.0.0.7:9000/")).toEqual(["export GANGER_URL=http://10.0.0.7:9000"]);
  expect(addressLines("http://127.0.0.1:8080/")).toEqual([]);
  expect(bare("http://h/prefix/")).toBe("http://h/prefix");
});

it("shows a first command that works on this server", () => {
  expect(firstCommand(true, { value: "/var/lib/ganger", origin: "default" })).toBe("ganger run -- echo hello");
  expect(firstCommand(true, { value: "/srv/my data", origin: "--data" })).toBe("ganger run --data '/srv/my data' -- echo hello");
  expect(firstCommand(false, { value: "/srv/g", origin: "--data" })).toContain("ganger enqueue echo");
  expect(firstCommand(true, undefined)).toContain("ganger enqueue echo");
});

it("does not take the worker inside the server, or one that went, for one's own", () => {
  expect(isOwn({ local: true, state: "available" })).toBe(false);
  expect(isOwn({ local: false, state: "lost" })).toBe(false);
  expect(isOwn({ local: false, state: "busy" })).toBe(true);
});

it("tells what may explain a bend in the flow", () => {
  const at = "2026-11-16T10:00:00Z";
  const noted = [
    { at, operation: "POST /v1/queues/mail:pause" },
    { at, operation: "POST /v1/queues/a%2Fb:resume" },
    { at, operation: "PUT /v1/queues/mail" },
    { at, operation: "POST /v1/jobs/job_1:cancel" },
  ] as never[];
  const labels = marksOf({ name: "one", since: at, term: 2 } as never, noted, [{ created_at: at, action: "replay", total: 12 }] as never[]).map(({ label }) => label);
  expect(labels).toEqual(["one leads", "mail paused", "a/b resumed", "Replay: 12 jobs"]);
  expect(marksOf({ name: "one", since: at, term: 1 } as never, [], [])).toEqual([]);
});
