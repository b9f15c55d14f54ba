import { expect, it } from "vitest";
import { batched, COMMIT_EVERY_MS, MOST_WAITING } from "./batch";

function bench() {
  let time = 0;
  const timers: { at: number; run: () => void }[] = [];
  const applied: { at: number; items: number[] }[] = [];
  let overflows = 0;
  const batch = batched<number>(
    (items) => applied.push({ at: time, items }),
    () => (overflows += 1),
    () => time,
    (run) => run(),
    (run, ms) => timers.push({ at: time + ms, run }),
  );
  const until = (end: number) => {
    for (; time <= end; time += 1) {
      for (const due of timers.filter((timer) => timer.at <= time)) {
        timers.splice(timers.indexOf(due), 1);
        due.run();
      }
    }
  };
  return { batch, applied, until, overflows: () => overflows };
}

it("commits four times a second however much is told", () => {
  const { batch, applied, until } = bench();
  for (let ms = 0; ms < 1000; ms += 1) {
    batch.push([ms]);
    until(ms);
  }
  until(2000);
  expect(applied.length).toBe(5);
  expect(applied.flatMap((commit) => commit.items)).toEqual(Array.from({ length: 1000 }, (_, ms) => ms));
  for (let i = 1; i < applied.length; i += 1) {
    expect((applied[i]?.at ?? 0) - (applied[i - 1]?.at ?? 0)).toBeGreaterThanOrEqual(COMMIT_EVERY_MS);
  }
});

it("holds at most so much, and then has everything read again", () => {
  const { batch, applied, until, overflows } = bench();
  batch.push(Array.from({ length: MOST_WAITING }, (_, n) => n));
  expect(overflows()).toBe(0);
  batch.push([1]);
  expect(overflows()).toBe(1);
  until(1000);
  expect(applied).toEqual([]);
});
