import { describe, expect, it } from "vitest";
import type { Queue } from "@/api/types";
import { badness, drainEstimate, ratesOf, recentRate, settled, verdictOf } from "./flow";
import { bodyOf, changesOf, cliOf, formOf, limitsInWords } from "./limits";

const queue = (more: Partial<Queue> = {}): Queue => ({
  queue: "mail",
  paused: false,
  draining: false,
  policy: "least_recently_used",
  retention: { finished: "7d", dead: "90d" },
  jobs: { queued: 0, running: 0 },
  workers: 1,
  ...more,
});
const plain = (text: string | undefined) => text?.replaceAll("\u00a0", " ");

describe("the figures of a queue", () => {
  const points = ["00", "01", "02"].map((minute) => ({ at: `2026-11-16T10:${minute}:00Z`, count: 60 }));

  it("leaves out the point that is still being filled", () => {
    expect(settled(points, Date.parse("2026-11-16T10:02:30Z"))).toHaveLength(2);
    expect(settled(points, Date.parse("2026-11-16T10:03:00Z"))).toHaveLength(3);
  });

  it("are rates by the length of a point, and a gap stays one", () => {
    expect(ratesOf(points, (point) => point.count)).toEqual([1, 1, 1]);
    expect(ratesOf(points, () => null)).toEqual([null, null, null]);
    expect(recentRate([9, 9, null, 1, 2, 3])).toBeCloseTo(15 / 4);
    expect(recentRate([null])).toBeUndefined();
  });

  it("tell when it is empty only where that can be told", () => {
    expect(plain(drainEstimate(120, { enqueued: 1, finished: 3 }))).toBe("Empties in ≈ 1 m");
    expect(drainEstimate(120, { enqueued: 3, finished: 1 })).toBe("Grows by 2/s");
    expect(drainEstimate(120, { enqueued: 0, finished: 0 })).toBe("Nothing finishes");
    expect(drainEstimate(0, { enqueued: 3, finished: 1 })).toBeUndefined();
    expect(drainEstimate(5, {})).toBeUndefined();
  });

  it("become one sentence, the worst first", () => {
    const text = (more: Partial<Queue>) => plain(verdictOf(queue(more), {}).text);
    expect(text({})).toBe("Nothing waits, nothing runs.");
    expect(text({ paused: true, draining: true, jobs: { queued: 1 } })).toBe("Paused: nothing of it starts. 1 job waits.");
    expect(text({ workers: 0, jobs: { queued: 4 } })).toBe("No worker serves this queue, and 4 jobs wait.");
    expect(verdictOf(queue({ workers: 0, jobs: { queued: 4 } }), {}).command).toBe("ganger worker start --queue mail");
    expect(text({ limits: { max_running: 3 }, jobs: { queued: 9, running: 3 } })).toBe("Held by its limit: 3 of at most 3 run, 9 jobs wait.");
    expect(verdictOf(queue({ jobs: { queued: 9 }, oldest_ready_ms: 90_000 }), {}).tone).toBe("warn");
    const still = (oldest_ready_ms: number) => verdictOf(queue({ jobs: { queued: 9 }, oldest_ready_ms }), { enqueued: 0, finished: 0 }).text;
    expect(still(13_000)).not.toContain("Nothing finishes");
    expect(still(200_000)).toContain("Nothing finishes");
  });

  it("put what is stuck before what is slow", () => {
    const stuck = queue({ workers: 0, jobs: { queued: 1 } });
    const slow = queue({ jobs: { queued: 9000 }, oldest_ready_ms: 1e6 });
    const long = queue({ jobs: { queued: 90_000 }, oldest_ready_ms: 10 });
    expect([long, slow, stuck].sort((a, b) => badness(b) - badness(a))).toEqual([stuck, slow, long]);
    expect(badness(long, 1)).toBeGreaterThan(badness(long) + 1e6);
  });
});

describe("the settings of a queue", () => {
  const before = formOf(queue({ limits: { max_running: 3, rate: "100/1m" }, ageing: { every: "1m", at_most: 9 } }));

  it("send only what was changed, and lift what was emptied", () => {
    const after = { ...before, max_running: " 5 ", rate: "", keep_dead: "30d" };
    const changes = changesOf(before, after);
    expect(changes).toEqual([
      { field: "max_running", from: "3", to: "5" },
      { field: "rate", from: "100/1m", to: "" },
      { field: "keep_dead", from: "90d", to: "30d" },
    ]);
    expect(bodyOf(changes, after)).toEqual({ limits: { max_running: 5, rate: "none" }, retention: { dead: "30d" } });
    expect(cliOf("mail", changes)).toBe("ganger queue set mail --max-running 5 --rate none --keep-dead 30d");
    expect(changesOf(before, before)).toEqual([]);
  });

  it("keep ageing together: one part is nothing without the other", () => {
    const after = { ...before, ageing_at_most: "20" };
    expect(bodyOf(changesOf(before, after), after)).toEqual({ ageing: { every: "1m", at_most: 20 } });
    const without = { ...before, ageing: "", ageing_at_most: "" };
    expect(bodyOf(changesOf(before, without), without)).toEqual({ ageing: "none" });
  });

  it("always have a weight and a precedence", () => {
    expect(formOf(queue({ weight: 4, precedence: -1 }))).toMatchObject({ weight: "4", precedence: "-1" });
    const after = { ...before, weight: "7", precedence: "-3" };
    const changes = changesOf(before, after);
    expect(bodyOf(changes, after)).toEqual({ weight: 7, precedence: -3 });
    expect(cliOf("mail", changes)).toBe("ganger queue set mail --weight 7 --precedence -3");
    const emptied = { ...after, weight: "" };
    expect(bodyOf(changesOf(after, emptied), emptied)).toEqual({ weight: 1 });
  });

  it("let the server refuse what is no number", () => {
    const after = { ...before, key_max_running: "many", block: "" };
    expect(bodyOf(changesOf(before, after), after)).toEqual({ key_limits: { max_running: "many" } });
  });

  it("are short in a table", () => {
    expect(limitsInWords(queue())).toBe("");
    expect(limitsInWords(queue({ limits: { max_running: 3, rate: "5/1s" }, key_limits: { max_running: 1 } }))).toBe("3 at a time · 5/1s · 1 per key");
  });
});
