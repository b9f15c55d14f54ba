import { expect, test } from "vitest";
import type { Attempt } from "@/api/types";
import { isMostlyIdle, momentOf, piecesOf, sharesOf } from "./timeline";

const at = (seconds: number) => new Date(Date.UTC(2026, 10, 16) + seconds * 1000).toISOString();
const ms = (seconds: number) => Date.parse(at(seconds));
const attempt = (number: number, from: number, to: number, outcome = "error") => ({ attempt: number, outcome, worker: "w", started_at: at(from), ended_at: at(to) }) as Attempt;
const job = { created_at: at(0), run_at: at(0), state: "dead" as const, attempt: 2, started_at: at(30), finished_at: at(32), worker: "w" };

test("waits, runs and the time between follow each other without a hole", () => {
  const pieces = piecesOf(job, [attempt(2, 30, 32), attempt(1, 5, 10)], ms(99));
  expect(pieces.map((piece) => piece.what)).toEqual(["wait", "run", "between", "run"]);
  for (const [index, piece] of pieces.entries()) if (index > 0) expect(piece.from).toBe(pieces[index - 1]?.to);
});

test("what runs now ends now", () => {
  const running = { ...job, state: "running" as const, finished_at: null, attempt: 2, started_at: at(30) };
  const pieces = piecesOf(running, [attempt(1, 5, 10, "lost")], ms(50));
  expect(pieces.at(-1)).toMatchObject({ what: "run", outcome: "running", attempt: 2, to: ms(50) });
});

test("what is for later waits for its time first", () => {
  const later = { ...job, state: "queued" as const, run_at: at(60), attempt: 0, started_at: null, finished_at: null };
  expect(piecesOf(later, [], ms(90)).map((piece) => piece.what)).toEqual(["scheduled", "wait"]);
  expect(piecesOf({ ...later, state: "scheduled" }, [], ms(20)).map((piece) => [piece.what, piece.to])).toEqual([["scheduled", ms(20)]]);
});

test("shares are the whole axis, and no run vanishes", () => {
  const pieces = piecesOf({ ...job, finished_at: at(100_001), started_at: at(100_000) }, [attempt(1, 100_000, 100_001)], ms(200_000));
  expect(isMostlyIdle(pieces)).toBe(true);
  for (const shortened of [true, false]) {
    const shares = sharesOf(pieces, shortened);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1);
    expect(shares[1]).toBeGreaterThan(0.009);
  }
});

test("an id tells its time, and what cannot be an id tells nothing", () => {
  expect(momentOf("job_01M7K8QC7GEQ6B16TG640ZR7GX")).toBe(Date.parse("2026-11-16T22:47:56.912Z"));
  expect(momentOf("job_81M7K8QC7GEQ6B16TG640ZR7GX")).toBeUndefined();
  expect(momentOf("nonsense")).toBeUndefined();
});
