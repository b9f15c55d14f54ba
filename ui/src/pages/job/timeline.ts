/** The life of a job as pieces on one time axis: it waits, it runs, it waits again. */
import type { Attempt, Job } from "@/api/types";
import { parseTime } from "@/design/format";

export interface Piece {
  what: "scheduled" | "wait" | "run" | "between";
  from: number;
  to: number;
  attempt?: number;
  /** Of a run: how it ended, or `running`. */
  outcome?: string;
  worker?: string;
}

type Lived = Pick<Job, "created_at" | "run_at" | "state" | "attempt" | "started_at" | "finished_at" | "worker">;

export function piecesOf(job: Lived, attempts: readonly Attempt[], now: number): Piece[] {
  const pieces: Piece[] = [];
  const created = parseTime(job.created_at) ?? now;
  let at = created;
  const idle = (to: number) => {
    if (to <= at) return;
    // Before its first attempt it may have been for later; after that a gap is a backoff, or the time until a replay.
    pieces.push({ what: pieces.some((piece) => piece.what === "run") ? "between" : "wait", from: at, to });
    at = to;
  };
  const due = attempts.length === 0 ? (parseTime(job.run_at) ?? created) : created;
  if (due > created + 1000) {
    const until = job.state === "scheduled" ? Math.max(created, Math.min(due, now)) : Math.min(due, now);
    if (until > created) pieces.push({ what: "scheduled", from: created, to: until });
    at = Math.max(at, until);
  }
  for (const each of [...attempts].sort((a, b) => a.attempt - b.attempt)) {
    const from = Math.max(at, parseTime(each.started_at) ?? at);
    const to = Math.max(from, parseTime(each.ended_at) ?? from);
    idle(from);
    pieces.push({ what: "run", from, to, attempt: each.attempt, outcome: each.outcome, worker: each.worker });
    at = to;
  }
  if (job.state === "running") {
    const from = Math.max(at, parseTime(job.started_at) ?? at);
    idle(from);
    pieces.push({ what: "run", from, to: Math.max(from, now), attempt: job.attempt, outcome: "running", ...(job.worker ? { worker: job.worker } : {}) });
  } else {
    idle(parseTime(job.finished_at) ?? (job.state === "scheduled" ? at : now));
  }
  return pieces;
}

/** Whether it waited so much that its runs could hardly be seen. */
export function isMostlyIdle(pieces: readonly Piece[]): boolean {
  const length = (list: readonly Piece[]) => list.reduce((sum, piece) => sum + piece.to - piece.from, 0);
  return length(pieces.filter((piece) => piece.what !== "run")) > 0.9 * length(pieces);
}

/** How much of the axis each piece takes, together 1. Shortened, long times count only by their magnitude. No run is too thin to be seen. */
export function sharesOf(pieces: readonly Piece[], shortened: boolean): number[] {
  const weights = pieces.map((piece) => {
    const ms = piece.to - piece.from;
    return shortened ? Math.log1p(ms) + 1 : ms;
  });
  const sum = weights.reduce((total, weight) => total + weight, 0) || 1;
  const least = pieces.map((piece, index) => Math.max((weights[index] ?? 0) / sum, piece.what === "run" ? 0.01 : 0));
  const all = least.reduce((total, share) => total + share, 0) || 1;
  return least.map((share) => share / all);
}

/** When a job with this id was taken in: the first part of an id is its time. Nothing, if no job can have such an id. */
export function momentOf(id: string): number | undefined {
  const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  const bare = /^job_([0-7][0-9A-HJKMNP-TV-Z]{25})$/i.exec(id)?.[1]?.toUpperCase();
  if (!bare) return undefined;
  return Array.from(bare.slice(0, 10)).reduce((sum, letter) => sum * 32 + letters.indexOf(letter), 0);
}
