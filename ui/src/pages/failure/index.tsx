/** One cause of failures: since when, how often, what it concerns, and what the failing jobs have in common. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { RotateCcw, Rows3, Trash2 } from "lucide-react";
import { useMemo, useState } from "react";
import { api } from "@/api/client";
import { Problem } from "@/api/problem";
import { failure, useMay } from "@/api/queries";
import { type Failure as Group, type Job, type State, STATES } from "@/api/types";
import { Button, CopyButton, EmptyState, formatCount, formatExact, Num, PageHeader, Panel, shortId, Skeleton, Time } from "@/design";
import { Chart, type Series } from "@/design/Chart";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";
import { GroupDialog, type GroupTarget, Shares } from "@/pages/failures/GroupDialog";
import { splitError, tally } from "@/pages/failures/groups";
import { useInspector } from "@/shell/JobInspector";
import { Payloads } from "./Payloads";

const route = getRouteApi("/failures/$fingerprint");
/** Jobs of the group that are looked at for what they share. */
const SAMPLE = 50;

export default function Failure() {
  const { fingerprint } = route.useParams();
  const query = useQuery(failure(fingerprint));
  const [target, setTarget] = useState<GroupTarget>();
  useLiveQueries(["counts"], [["failures", fingerprint]]);
  const problem = query.error ? Problem.from(query.error) : undefined;
  if (!query.data && problem?.code === "no_such_failure") return <Unknown fingerprint={fingerprint} />;
  return (
    <>
      <Head fingerprint={fingerprint} group={query.data} act={setTarget} />
      <Loaded query={query} rows={3}>
        {(group) => (
          <div className="flex flex-col gap-4">
            <Figures group={group} />
            <Occurrences fingerprint={fingerprint} />
            <Affected fingerprint={fingerprint} />
            <Payloads fingerprint={fingerprint} />
          </div>
        )}
      </Loaded>
      <GroupDialog target={target} onClose={() => setTarget(undefined)} />
    </>
  );
}

function Unknown({ fingerprint }: { fingerprint: string }) {
  return (
    <EmptyState title="There is no such group of failures" action={<Link to="/failures">All failures</Link>}>
      <h1 className="sr-only">Unknown failure</h1>
      No attempt has failed as <code>{fingerprint}</code>, or it was so long ago that the group is forgotten.
    </EmptyState>
  );
}

function Head({ fingerprint, group, act }: { fingerprint: string; group: Group | undefined; act: (target: GroupTarget) => void }) {
  const mayReplay = useMay("replay", "*");
  const mayPurge = useMay("purge", "*");
  const { name, text } = splitError(group?.error ?? "");
  const target = { fingerprint, error: group?.error ?? fingerprint };
  return (
    <PageHeader
      title={group ? <span className="line-clamp-3 break-words">{name ?? text}</span> : <Skeleton className="h-6 w-72" />}
      actions={
        <>
          <Link to="/jobs" search={(before) => ({ range: before.range, q: `failure:${fingerprint}` })} className="inline-flex h-8 items-center gap-1.5 rounded border border-line-strong bg-surface px-3 text-text hover:bg-raised hover:no-underline">
            <Rows3 size={14} /> Show its jobs
          </Link>
          {mayPurge ? (
            <Button icon={<Trash2 size={14} />} disabled={!group} onClick={() => act({ action: "discard", ...target })}>
              Discard group…
            </Button>
          ) : null}
          {mayReplay ? (
            <Button look="primary" icon={<RotateCcw size={14} />} disabled={!group} onClick={() => act({ action: "replay", ...target })}>
              Replay group…
            </Button>
          ) : null}
        </>
      }
    >
      {name ? <p className="max-w-[100ch] break-words text-text">{text}</p> : null}
      {group ? (
        <span className="inline-flex flex-wrap items-center gap-x-2">
          of kind
          <Link to="/jobs" search={{ q: `kind:${group.kind}` }}>
            {group.kind}
          </Link>
          <span aria-hidden="true">·</span>
          <code className="text-12">{fingerprint}</code>
          <CopyButton text={fingerprint} label="Copy fingerprint" />
        </span>
      ) : null}
    </PageHeader>
  );
}

function Figures({ group }: { group: Group }) {
  const inspector = useInspector();
  const items = [
    ["Failed attempts", <Num key="n" value={group.count} unit="attempts" />],
    ["First seen", <Time key="f" at={group.first_at} />],
    ["Last seen", <Time key="l" at={group.last_at} />],
    [
      "Last job",
      <button key="j" type="button" className="font-mono text-accent hover:underline" onClick={() => inspector.open(group.job)}>
        {shortId(group.job)}
      </button>,
    ],
  ] as const;
  const lines = group.error.trim().split("\n");
  return (
    <>
      <dl className="grid grid-cols-4 gap-px overflow-hidden rounded border border-line bg-line max-sm:grid-cols-2">
        {items.map(([name, value]) => (
          <div key={name} className="bg-surface px-3 py-2">
            <dt className="text-12 text-muted">{name}</dt>
            <dd className="text-16">{value}</dd>
          </div>
        ))}
      </dl>
      {lines.length > 1 ? (
        <Panel title="The last error" aside={<CopyButton text={group.error} label="Copy the error" />}>
          <pre className="max-h-64 overflow-auto p-3 text-12 whitespace-pre-wrap" tabIndex={0} role="region" aria-label="The last error">
            {group.error}
          </pre>
        </Panel>
      ) : null}
    </>
  );
}

const BUCKETS = 60;

function Occurrences({ fingerprint }: { fingerprint: string }) {
  const query = useQuery({
    queryKey: ["failures", fingerprint, "histogram"],
    queryFn: ({ signal }) => api.get("/v1/jobs:histogram", { query: { q: `failure:${fingerprint}`, buckets: BUCKETS }, signal }),
  });
  const { times, series } = useMemo(() => {
    const buckets = query.data?.buckets ?? [];
    const seen = STATES.filter((state) => buckets.some((bucket) => bucket.states[state]));
    // What failed is drawn last, on top.
    const order: State[] = [...seen.filter((state) => state !== "dead"), ...seen.filter((state) => state === "dead")];
    return {
      times: buckets.map((bucket) => Date.parse(bucket.at) / 1000),
      series: order.map((state): Series => ({ label: state, colour: state, kind: "step", values: buckets.map((bucket) => bucket.states[state] ?? 0) })),
    };
  }, [query.data]);
  return (
    <Panel title="Jobs over time by state" aside={query.data && !query.data.scan.complete ? `Of the newest ${formatExact(query.data.scan.examined)} jobs` : null}>
      <div className="p-3">
        <Loaded query={query} rows={4}>
          {(data) =>
            data.matched === 0 ? (
              <p className="py-6 text-center text-muted">No job has this as its last error any more: they were replayed, discarded, or have outlived their time.</p>
            ) : (
              <Chart title="Jobs of this group by creation time" times={times} series={series} format={formatCount} whole height={160} />
            )
          }
        </Loaded>
      </div>
    </Panel>
  );
}

function Affected({ fingerprint }: { fingerprint: string }) {
  const query = useQuery({
    queryKey: ["failures", fingerprint, "jobs"],
    queryFn: async ({ signal }) => (await api.get("/v1/jobs", { query: { q: `failure:${fingerprint}`, limit: SAMPLE }, signal })).items as Job[],
  });
  return (
    <Loaded query={query} rows={3}>
      {(jobs) =>
        jobs.length === 0 ? null : (
          <section aria-label="Breakdown" className="panel">
            <header className="flex min-h-9 items-center border-b border-line px-3">
              <h2 className="text-13 font-medium">Breakdown</h2>
              <span className="ml-auto text-12 text-muted">{jobs.length < SAMPLE ? `${jobs.length} ${jobs.length === 1 ? "job" : "jobs"}` : `The newest ${SAMPLE} jobs`}</span>
            </header>
            <div className="grid grid-cols-4 gap-6 p-3 max-md:grid-cols-2 max-sm:grid-cols-1">
              <Shares title="Worker of the last attempt" shares={tally(jobs.map((job) => job.worker))} whole={jobs.length} />
              <Shares title="Queue" shares={tally(jobs.map((job) => job.queue))} whole={jobs.length} />
              <Shares title="State now" shares={tally(jobs.map((job) => job.state))} whole={jobs.length} />
              <Shares title="Attempts made" shares={tally(jobs.map((job) => `${job.attempts_used} of ${job.max_attempts}`))} whole={jobs.length} />
            </div>
            <Verdict jobs={jobs} />
          </section>
        )
      }
    </Loaded>
  );
}

/** What stands out, in words: "only on w-3". */
export function onlyWhere(jobs: readonly Pick<Job, "worker" | "queue">[]): string | undefined {
  if (jobs.length < 5) return undefined;
  const workers = Object.keys(tally(jobs.map((job) => job.worker)));
  const queues = Object.keys(tally(jobs.map((job) => job.queue)));
  if (workers.length === 1 && workers[0] !== "none") return `All of them failed on the worker ${workers[0]}.`;
  if (queues.length === 1) return `All of them are of the queue ${queues[0]}.`;
  return undefined;
}

function Verdict({ jobs }: { jobs: readonly Job[] }) {
  const told = onlyWhere(jobs);
  return told ? <p className="border-t border-line px-3 py-2">{told}</p> : null;
}
