/** Four figures: what gets done, what waits, for how long, and what fails. Each leads to the list behind it. */
import { useQuery } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Problem } from "@/api/problem";
import { queues, stats, timeseries } from "@/api/queries";
import { Button, Duration, formatCount, formatDuration, formatPercent, formatRate, Num, Rate, Skeleton, Sparkline } from "@/design";
import { change, drainOf, formatChange, halves, meanMs, pointsOf, recentRate, share, sumOfCounts, type Drain, type Point } from "@/pages/analytics/figures";

/** What a rate of "now" is taken from. */
const MINUTES = 5;
const TWO_HOURS = { from: "2h", step: "1m" } as const;

export function Tiles() {
  return (
    <div className="grid grid-cols-4 gap-4 max-md:grid-cols-2 max-sm:gap-2">
      <Throughput />
      <Backlog />
      <Oldest />
      <FailureRate />
    </div>
  );
}

interface TileProps {
  title: string;
  to: Pick<LinkProps, "to" | "search">;
  value: ReactNode;
  /** One thing that puts the number into place. */
  note: ReactNode;
  delta: string | undefined;
  /** What the comparison is of, if not of the number itself. */
  deltaOf?: string;
  spark: readonly (number | null)[];
  sparkLabel: string;
  sparkClass?: string;
  failed: { error: unknown; retry: () => void } | undefined;
  loading: boolean;
}

function Tile({ title, to, value, note, delta, deltaOf, spark, sparkLabel, sparkClass, failed, loading }: TileProps) {
  return (
    <section aria-label={title} className="panel relative flex min-w-0 flex-col gap-1 px-4 py-3 hover:border-line-strong">
      <h2 className="text-12 font-medium text-muted">
        {/* The whole tile is the link; other controls lie above it. */}
        <Link {...to} className="quiet-link after:absolute after:inset-0 hover:no-underline">
          {title}
        </Link>
      </h2>
      {failed ? (
        <div role="alert" className="relative flex flex-col items-start gap-1">
          <span className="line-clamp-2">{Problem.from(failed.error).detail}</span>
          <Button small onClick={failed.retry}>
            Try again
          </Button>
          {Problem.from(failed.error).requestId ? <span className="max-w-full truncate text-12 text-muted">request {Problem.from(failed.error).requestId}</span> : null}
        </div>
      ) : (
        <>
          <div className="flex flex-col justify-between gap-1 lg:flex-row lg:items-end lg:gap-3">
            <div className="text-28 font-medium whitespace-nowrap">{loading ? <Skeleton className="h-7 w-24" /> : value}</div>
            <div className="overflow-hidden max-sm:hidden lg:mb-1.5">
              <Sparkline values={spark} width={112} height={28} label={sparkLabel} className={sparkClass ?? "stroke-accent"} />
            </div>
          </div>
          <div className="flex flex-wrap justify-between gap-x-3 text-12 text-muted">
            <span className="min-w-0 max-w-full truncate" title={typeof note === "string" ? note : undefined}>{loading ? <Skeleton className="h-3 w-28" /> : note}</span>
            {delta ? (
              <span title={`${deltaOf ?? title}, this hour against the hour before`}>
                {deltaOf ? `${deltaOf} ` : ""}
                <span className="text-text">{delta}</span> on the hour before
              </span>
            ) : null}
          </div>
        </>
      )}
    </section>
  );
}

const failedOf = (...queries: { error: unknown; data: unknown; refetch: () => unknown }[]) => {
  const bad = queries.find((query) => query.error && query.data === undefined);
  return bad ? { error: bad.error, retry: () => void bad.refetch() } : undefined;
};

/** A minute that has only begun would look like a decline. */
const whole = (points: readonly Point[]) => points.slice(0, -1);

function Throughput() {
  const query = useQuery(timeseries({ metric: "throughput", ...TWO_HOURS }));
  const { before, after } = halves(pointsOf(query.data));
  return (
    <Tile
      title={`Throughput, last ${MINUTES} m`}
      to={{ to: "/jobs", search: { q: "state:succeeded" } }}
      value={<Rate perSecond={recentRate(after, MINUTES)} />}
      note={`${formatCount(sumOfCounts(after))} jobs ended in 1 h`}
      delta={formatChange(change(sumOfCounts(before), sumOfCounts(after)))}
      spark={whole(after).map((point) => point.count)}
      sparkLabel={`Jobs ended per minute over the last hour, ${formatRate(recentRate(after, MINUTES))} now`}
      sparkClass="stroke-succeeded"
      failed={failedOf(query)}
      loading={query.data === undefined}
    />
  );
}

function Backlog() {
  const now = useQuery(stats());
  const comes = useQuery(timeseries({ metric: "enqueued", ...TWO_HOURS }));
  const ends = useQuery(timeseries({ metric: "throughput", ...TWO_HOURS }));
  const { before, after } = halves(pointsOf(comes.data));
  const ready = now.data?.jobs.queued;
  const drain = drainOf(ready ?? 0, now.data?.cannot_start ?? 0, recentRate(pointsOf(comes.data), MINUTES), recentRate(pointsOf(ends.data), MINUTES));
  return (
    <Tile
      title="Backlog, ready to run"
      to={{ to: "/jobs", search: { q: "state:queued" } }}
      value={<Num value={ready} unit="jobs ready" />}
      note={drainText(drain)}
      delta={formatChange(change(sumOfCounts(before), sumOfCounts(after)))}
      deltaOf="enqueued"
      spark={whole(after).map((point) => point.count)}
      sparkLabel="Jobs enqueued per minute over the last hour"
      sparkClass="stroke-queued"
      failed={failedOf(now, comes, ends)}
      loading={now.data === undefined}
    />
  );
}

export function drainText(drain: Drain): string {
  switch (drain.state) {
    case "empty":
      return "nothing waiting";
    case "stuck":
      return `${formatCount(drain.jobs)} cannot start: paused, or no worker`;
    case "unknown":
      return "time to drain not known yet";
    case "growing":
      return `grows by ${formatRate(drain.perSecond)}`;
    case "steady":
      return "neither grows nor drains";
    case "draining":
      return `drains in ${formatDuration(drain.ms)} at this rate`;
  }
}

function Oldest() {
  const list = useQuery(queues());
  const wait = useQuery(timeseries({ metric: "wait", ...TWO_HOURS }));
  const { before, after } = halves(pointsOf(wait.data));
  const oldest = list.data?.items.reduce<{ queue: string; ms: number } | undefined>(
    (worst, queue) => (!queue.paused && queue.oldest_ready_ms != null && queue.oldest_ready_ms > (worst?.ms ?? -1) ? { queue: queue.queue, ms: queue.oldest_ready_ms } : worst),
    undefined,
  );
  return (
    <Tile
      title="Oldest ready job"
      to={{ to: "/jobs", search: { q: oldest ? `state:queued queue:${oldest.queue}` : "state:queued" } }}
      value={oldest ? <Duration ms={oldest.ms} /> : list.data ? "none" : null}
      note={oldest ? `in ${oldest.queue}` : `mean wait ${formatDuration(meanMs(after))} in 1 h`}
      delta={formatChange(change(meanMs(before), meanMs(after)))}
      deltaOf="mean wait"
      spark={whole(after).map((point) => point.p95_ms ?? null)}
      sparkLabel="95th percentile of the wait per minute over the last hour"
      sparkClass="stroke-running"
      failed={failedOf(list, wait)}
      loading={list.data === undefined}
    />
  );
}

function FailureRate() {
  const failures = useQuery(timeseries({ metric: "failures", ...TWO_HOURS }));
  const runs = useQuery(timeseries({ metric: "run", ...TWO_HOURS }));
  const failed = halves(pointsOf(failures.data));
  const ran = halves(pointsOf(runs.data));
  const now = share(sumOfCounts(failed.after), sumOfCounts(ran.after));
  const was = share(sumOfCounts(failed.before), sumOfCounts(ran.before));
  const dead = failed.after.reduce((sum, point) => sum + (point.dead ?? 0), 0);
  return (
    <Tile
      title="Failed attempts, last 1 h"
      to={{ to: "/failures" }}
      value={formatPercent(now)}
      note={`${formatCount(sumOfCounts(failed.after))} of ${formatCount(sumOfCounts(ran.after))} attempts, ${formatCount(dead)} jobs died`}
      delta={formatChange(change(was, now))}
      spark={whole(failed.after).map((point, index) => share(point.count, ran.after[index]?.count) ?? null)}
      sparkLabel="Share of attempts that failed, per minute over the last hour"
      sparkClass="stroke-dead"
      failed={failedOf(failures, runs)}
      loading={failures.data === undefined || runs.data === undefined}
    />
  );
}
