/** A worker session: what it runs, or how it ended and what became of its jobs. The same on its page and in the inspector. */
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Funnel } from "lucide-react";
import { useState } from "react";
import { api } from "@/api/client";
import { useMay, worker } from "@/api/queries";
import { type Job, STATES, type State, type Worker as WorkerData } from "@/api/types";
import { Button, Chip, ConfirmDialog, Duration, Elapsed, Facts, formatCount, formatPercent, Panel, shellWord, shortId, StateLabel, Time, toast } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { MOST_VISIBLE } from "@/live/protocol";
import { Mark, Meter, VerdictStrip } from "@/pages/glyphs";
import { quote } from "@/pages/jobs/filter";
import { isHere, toneOf } from "@/pages/workers/fleet";

/** What is known of a worker, as new as it can be. */
export function useWorker(id: string) {
  useLiveQueries(["worker", "counts"], [["workers", id]]);
  return useQuery({ ...worker(id), refetchInterval: 5000 });
}

export function WorkerView({ worker: data, narrow = false }: { worker: WorkerData; narrow?: boolean }) {
  const { left } = data;
  return (
    <>
      {left ? (
        <VerdictStrip tone={data.state === "lost" ? "bad" : "plain"}>
          <span className="font-medium">
            {data.state === "lost" ? "Lost" : "Gone"} <Time at={left.at} />: {left.why}. It held {formatCount(left.held)} {left.held === 1 ? "job" : "jobs"}.
          </span>
        </VerdictStrip>
      ) : null}
      <div className={narrow ? "flex flex-col gap-4" : "grid grid-cols-2 items-start gap-4 max-md:grid-cols-1"}>
        <Panel title="Worker" aside={<Link to="/jobs" search={{ q: `worker:${quote(data.name)}` }}>Its last jobs</Link>}>
          <Facts
            items={[
              ["State", <Mark key="state" tone={toneOf(data)}>{data.state}</Mark>],
              [
                "Threads",
                <span key="threads" className="flex items-center gap-3">
                  <Meter value={data.threads_used} of={data.threads} label={`${data.threads_used} of ${data.threads} threads are used`} width="w-40" />
                  {data.threads_used} of {data.threads}
                </span>,
              ],
              ["Stuck jobs", data.stuck],
              ["Queues", data.queues.join(", ") || "all"],
              ["Kinds", data.kinds.join(", ") || "any"],
              ["Labels", Object.keys(data.labels).length === 0 ? "none" : <span key="labels" className="flex flex-wrap gap-1">{Object.entries(data.labels).map(([name, value]) => <Chip key={name}>{`${name}=${String(value)}`}</Chip>)}</span>],
              ["Version", data.version || "—"],
              ["Location", data.local ? "server process" : "own process"],
              ["Since", <Time key="since" at={data.opened_at} />],
              ["Last heartbeat", isHere(data) ? <span key="silent"><Duration ms={data.silent_ms} /> ago</span> : "—"],
            ]}
          />
        </Panel>
        {left ? <Held worker={data} /> : <Running worker={data} />}
      </div>
    </>
  );
}

/** The jobs behind its leases. They are read with the worker, which names only their ids. */
function useLeased(data: WorkerData): ReadonlyMap<string, Job> {
  const ids = data.leases.map((lease) => lease.job).sort().slice(0, MOST_VISIBLE);
  const query = useQuery({
    queryKey: ["workers", data.id, "jobs", ids.join()],
    queryFn: async ({ signal }) => (await api.get("/v1/jobs", { query: { q: `id:${ids.join(",")}`, limit: MOST_VISIBLE }, signal })).items as Job[],
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
  });
  return new Map((query.data ?? []).map((job) => [job.id, job]));
}

function Running({ worker: data }: { worker: WorkerData }) {
  const jobs = useLeased(data);
  return (
    <Panel title="Running jobs" aside={formatCount(data.leases.length)}>
      {data.leases.length === 0 ? (
        <p className="px-3 py-4 text-muted">No running jobs.</p>
      ) : (
        <ul>
          {data.leases.map((lease) => {
            const job = jobs.get(lease.job);
            const fraction = job?.progress?.fraction;
            return (
            <li key={lease.fence} className="flex min-h-(--row) flex-wrap items-center gap-x-4 border-b border-line px-3 last:border-b-0">
              <StateLabel state="running" />
              <Link to="/jobs/$id" params={{ id: lease.job }} className="font-mono text-12">
                {shortId(lease.job)}
              </Link>
              {job ? (
                <>
                  <span className="max-w-60 truncate font-medium" title={job.kind}>{job.kind}</span>
                  <Link to="/queues/$queue" params={{ queue: job.queue }} className="quiet-link max-w-40 truncate text-muted">{job.queue}</Link>
                </>
              ) : null}
              {fraction === undefined ? null : <span title={job?.progress?.note ?? undefined}>{formatPercent(fraction)}</span>}
              <span className="text-muted">attempt {lease.attempt}</span>
              <span className="text-muted">{lease.threads === 1 ? "1 thread" : `${lease.threads} threads`}</span>
              <span className="ml-auto">
                for <Elapsed since={lease.since} />
              </span>
            </li>
            );
          })}
        </ul>
      )}
    </Panel>
  );
}

const isState = (text: string | null | undefined): text is State => STATES.some((state) => state === text);

function Held({ worker: data }: { worker: WorkerData }) {
  const jobs = data.left?.jobs ?? [];
  return (
    <Panel title="Its jobs" aside={formatCount(data.left?.held)}>
      {jobs.length === 0 ? (
        <p className="px-3 py-4 text-muted">It held none when it left.</p>
      ) : (
        <ul>
          {jobs.map((job) => (
            <li key={job.job} className="flex min-h-(--row) items-center gap-4 border-b border-line px-3 last:border-b-0">
              <Link to="/jobs/$id" params={{ id: job.job }} className="font-mono text-12">
                {shortId(job.job)}
              </Link>
              {isState(job.state) ? <StateLabel state={job.state} /> : <span className="text-muted">no longer kept</span>}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

export function Drain({ worker: data }: { worker: WorkerData }) {
  // A worker may serve any queue: who sees only some may not stop it.
  const may = useMay("settings", "*");
  const client = useQueryClient();
  const [asked, setAsked] = useState<WorkerData>();
  if (!may || !isHere(data)) return null;
  return (
    <>
      <Button icon={<Funnel size={14} />} disabled={data.state === "draining"} onClick={() => setAsked(data)}>
        {data.state === "draining" ? "Draining" : "Drain worker"}
      </Button>
      <ConfirmDialog
        target={asked}
        onClose={() => setAsked(undefined)}
        ask={{
          title: (target) => `Drain worker ${target.name}`,
          body: (target) => `It finishes the ${formatCount(target.leases.length)} jobs that it holds and takes nothing new. Restart it to have it work again.`,
          action: (target) => `Drain ${target.name}`,
          cli: (target) => `ganger worker drain ${shellWord(target.id)}`,
          run: async (target) => {
            await api.post("/v1/workers/{id}:drain", { path: { id: target.id } });
            toast.done(`Worker ${target.name} takes nothing new.`);
            await client.invalidateQueries({ queryKey: ["workers"] });
          },
        }}
      />
    </>
  );
}
