/** What happened to a job, why, and what can be done. The same on its page and in the inspector. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { Problem } from "@/api/problem";
import { explanation, job } from "@/api/queries";
import { FINAL, type Job } from "@/api/types";
import { Chip, CopyButton, Duration, Elapsed, EmptyState, Facts, formatDuration, formatPercent, Panel, shortId, StateLabel, Time, useNow } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";
import { addRecent } from "@/shell/recent";
import { Actions } from "./Actions";
import { Alive } from "./Alive";
import { Details } from "./Details";
import { ErrorCard } from "./ErrorCard";
import { placeInWords } from "./place";
import { Said } from "./Said";
import { momentOf } from "./timeline";
import { Timeline } from "./Timeline";

interface Props {
  id: string;
  tab: string;
  onTab: (tab: string) => void;
  /** Beside a list: everything in one column. */
  narrow?: boolean;
}

export function JobView({ id, ...rest }: Props) {
  const query = useQuery(job(id));
  const kind = query.data?.kind;
  useLiveQueries(["job", "attempt"], [["jobs", id]], [id]);
  useEffect(() => {
    if (kind) addRecent({ path: `/jobs/${id}`, label: `${kind} ${shortId(id)}` });
  }, [id, kind]);
  if (query.error && query.data === undefined && [400, 404].includes(Problem.from(query.error).status)) return <NotThere id={id} problem={Problem.from(query.error)} />;
  return <Loaded query={query}>{(data) => <Known data={data} {...rest} />}</Loaded>;
}

function Known({ data, tab, onTab, narrow = false }: { data: Job } & Omit<Props, "id">) {
  const waits = !FINAL.includes(data.state) && data.state !== "running";
  return (
    <div className="flex flex-col gap-4">
      <header className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <StateLabel state={data.state} size={16} />
        <span className="text-16 font-semibold break-all">{data.kind}</span>
        <span className="inline-flex min-w-0 items-center gap-1">
          <code className="text-12 break-all text-muted">{data.id}</code>
          <CopyButton text={data.id} label="Copy id" />
        </span>
        {data.cancel_requested && data.state === "running" ? <Chip tone="warn">stopping</Chip> : null}
        <span className="ml-auto">
          <Actions job={data} />
        </span>
      </header>
      {data.state === "running" ? <Running data={data} /> : null}
      {waits ? <Why id={data.id} /> : null}
      {data.last_error && data.state !== "succeeded" && data.state !== "running" ? <ErrorCard job={data} error={data.last_error} /> : null}
      <div className={narrow ? "flex flex-col gap-4" : "grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_340px]"}>
        <div className="flex min-w-0 flex-col gap-4">
          <Timeline job={data} />
          <Details job={data} tab={tab} onTab={onTab} />
        </div>
        <About data={data} />
      </div>
    </div>
  );
}

function About({ data }: { data: Job }) {
  const some = (name: string, value: ReactNode): [string, ReactNode][] => (value === null || value === undefined || value === "" ? [] : [[name, value]]);
  return (
    <Panel title="About">
      <Facts
        items={[
          ["Queue", <Link key="queue" to="/queues/$queue" params={{ queue: data.queue }}>{data.queue}</Link>],
          ...some("Key", data.unique_key),
          ...some("Concurrency key", data.concurrency_key),
          ["Priority", data.priority],
          ["Attempts", `${data.attempts_used} of ${data.max_attempts}`],
          ["Threads", data.threads_granted && data.threads_granted !== data.threads ? `${data.threads_granted} of ${data.threads}` : data.threads],
          ["Timeout", data.timeout],
          ...some("Worker", data.worker),
          ["Created", <Time key="created" at={data.created_at} />],
          ...(data.state === "scheduled" || data.state === "retrying" ? [["Due", <Time key="due" at={data.run_at} />] as [string, ReactNode]] : []),
          ["Finished", <Time key="finished" at={data.finished_at} />],
          ["Waited", <Duration key="waited" ms={data.queue_time_ms} />],
          ["Ran", <Duration key="ran" ms={data.execution_time_ms} />],
          ["Total time", <Duration key="all" ms={data.total_time_ms} />],
          ...some("Expires", data.expires_at ? <Time at={data.expires_at} /> : null),
          ...some("Schedule", data.schedule ? <Link to="/schedules/$name" params={{ name: data.schedule.name }}>{data.schedule.name}</Link> : null),
          ...some("Tags", data.tags?.length ? <span className="flex flex-wrap gap-1">{data.tags.map((tag) => <Chip key={tag}>{tag}</Chip>)}</span> : null),
          ...some("Trace", data.traceparent ? <code className="text-12 break-all">{data.traceparent}</code> : null),
          ...some("Reason", data.reason),
        ]}
      />
    </Panel>
  );
}

function Running({ data }: { data: Job }) {
  const fraction = data.progress?.fraction;
  return (
    <section aria-label="Progress" className="rounded border border-line border-l-2 border-l-running bg-surface px-4 py-3">
      <div className="flex flex-wrap gap-x-4">
        <span>
          Running for <Elapsed since={data.started_at} />
          {data.worker ? ` on ${data.worker}` : ""}
        </span>
        {data.progress?.note ? <span className="text-muted">{data.progress.note}</span> : null}
        {fraction === undefined ? null : <span className="ml-auto">{formatPercent(fraction)}</span>}
      </div>
      {fraction === undefined ? null : (
        <div role="progressbar" aria-label="Progress" aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(fraction * 100)} className="mt-2 h-1.5 rounded-full bg-line">
          <div className="h-1.5 rounded-full bg-running" style={{ width: `${Math.min(100, fraction * 100)}%` }} />
        </div>
      )}
      <Alive key={data.attempt} job={data} />
    </section>
  );
}

/** What holds it back: the reason first, then what was checked. */
function Why({ id }: { id: string }) {
  const query = useQuery({ ...explanation(id), refetchInterval: 10_000 });
  return (
    <Panel title="Why it does not run">
      <Loaded query={query} rows={2}>
        {(why) => (
          <div className="flex flex-col gap-2 px-3 py-2.5">
            <p className="text-14 font-medium">
              <Said text={why.summary} />
            </p>
            {why.next_step ? (
              <p className="text-muted">
                → <Said text={why.next_step} />
              </p>
            ) : null}
            {why.position || why.estimate_ms ? (
              <p className="text-12 text-muted">
                {why.position ? placeInWords(why.position) : ""}
                {why.estimate_ms ? ` · should start in about ${formatDuration(why.estimate_ms)}` : ""}
              </p>
            ) : null}
            {why.gates.length > 0 ? (
              <details>
                <summary className="w-max cursor-pointer text-12 text-muted">
                  What was checked, and what holds it back
                </summary>
                <ul className="flex flex-col gap-0.5 pt-1">
                  {why.gates.map((gate) => (
                    <li key={gate.gate} className="flex gap-2">
                      <span className={`w-16 shrink-0 text-12 leading-5 ${gate.closed ? "font-medium" : "text-muted"}`}>{gate.closed ? "held" : "open"}</span>
                      <span className={gate.closed ? "" : "text-muted"}>
                        <Said text={gate.evidence} />
                      </span>
                    </li>
                  ))}
                </ul>
              </details>
            ) : null}
          </div>
        )}
      </Loaded>
    </Panel>
  );
}

/** There is no such job: an id tells when it would have been taken in, so what happened can be told apart. */
function NotThere({ id, problem }: { id: string; problem: Problem }) {
  const moment = momentOf(id);
  const now = useNow();
  const later = moment !== undefined && moment > now + 60_000;
  return (
    <EmptyState title={moment === undefined ? "This is not the id of a job" : later ? "No job has this id yet" : "This job is not kept any more, or never was"} action={<Link to="/jobs">Look at all jobs</Link>}>
      <p>
        <code className="break-all">{id}</code>
      </p>
      <p className="pt-2">
        {moment === undefined ? (
          "Ids of jobs begin with job_ and have 26 letters and digits after it. Perhaps a part is missing."
        ) : later ? (
          "Its time lies in the future: no server can have given it out."
        ) : (
          <>
            A job with this id was created <Time at={new Date(moment).toISOString()} />. Jobs that ended are removed when their retention is over, and by whoever deletes them. If it was given out lately, check
            that this is the server it was submitted to.
          </>
        )}
      </p>
      {problem.requestId ? <p className="pt-2 text-12">request {problem.requestId}</p> : null}
    </EmptyState>
  );
}
