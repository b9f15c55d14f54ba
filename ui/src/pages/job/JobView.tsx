/** What happened to a job, why, and what can be done. The same on its page and in the inspector. */
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { api } from "@/api/client";
import { attempts, explanation, job, useMay } from "@/api/queries";
import { FINAL, type Job } from "@/api/types";
import { CodeView, CopyButton, Duration, EmptyState, Facts, Panel, shortId, StateLabel, Time } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";
import { addRecent } from "@/shell/recent";

export function JobView({ id }: { id: string }) {
  const query = useQuery(job(id));
  const kind = query.data?.kind;
  useLiveQueries(["job", "attempt"], [["jobs", id]], [id]);
  useEffect(() => {
    if (kind) addRecent({ path: `/jobs/${id}`, label: `${kind} ${shortId(id)}` });
  }, [id, kind]);
  return <Loaded query={query}>{(data) => <Known data={data} />}</Loaded>;
}

function Known({ data }: { data: Job }) {
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-3">
        <StateLabel state={data.state} size={16} />
        <span className="text-16 font-semibold">{data.kind}</span>
        <code className="text-12 text-muted">{data.id}</code>
        <CopyButton text={data.id} label="Copy id" />
      </div>
      {FINAL.includes(data.state) || data.state === "running" ? null : <Why id={data.id} />}
      {data.last_error && data.state !== "succeeded" ? (
        <section className="rounded border border-line border-l-2 border-l-dead bg-surface px-4 py-3">
          <h2 className="text-12 font-medium text-muted">Last error</h2>
          <pre className="text-12 break-words whitespace-pre-wrap">{data.last_error}</pre>
        </section>
      ) : null}
      <Panel title="Job">
        <Facts
          items={[
            ["Queue", data.queue],
            ["Priority", data.priority],
            ["Attempts", `${data.attempts_used} of ${data.max_attempts}`],
            ["Created", <Time key="created" at={data.created_at} />],
            ["Finished", <Time key="finished" at={data.finished_at} />],
            ["Waited", <Duration key="waited" ms={data.queue_time_ms} />],
            ["Ran", <Duration key="ran" ms={data.execution_time_ms} />],
          ]}
        />
      </Panel>
      <Attempts id={data.id} />
      <Payload id={data.id} queue={data.queue} />
    </div>
  );
}

function Why({ id }: { id: string }) {
  const query = useQuery(explanation(id));
  return (
    <Panel title="Why it does not run">
      <Loaded query={query} rows={2}>
        {(why) => (
          <div className="flex flex-col gap-1 px-3 py-2.5">
            <div>{why.summary}</div>
            {why.next_step ? <div className="text-muted">{why.next_step}</div> : null}
          </div>
        )}
      </Loaded>
    </Panel>
  );
}

function Attempts({ id }: { id: string }) {
  const query = useQuery(attempts(id));
  return (
    <Panel title="Attempts">
      <Loaded query={query} rows={2}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title="No attempt has ended yet" />
          ) : (
            <ul className="flex flex-col">
              {items.map((attempt) => (
                <li key={attempt.attempt} className="flex min-h-(--row) items-center gap-4 border-b border-line px-3 last:border-b-0">
                  <span className="w-6 text-right text-muted">{attempt.attempt}</span>
                  <span className="w-20">{attempt.outcome}</span>
                  <Duration ms={attempt.execution_time_ms} />
                  <span className="min-w-0 grow truncate text-muted">{attempt.error ?? attempt.worker}</span>
                  <Time at={attempt.ended_at} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}

function Payload({ id, queue }: { id: string; queue: string }) {
  const allowed = useMay("read_payload", queue);
  const query = useQuery({
    queryKey: ["jobs", id, "payload"],
    queryFn: ({ signal }) => api.text("/v1/jobs/{id}/payload", { id }, undefined, signal),
    enabled: allowed,
    staleTime: Infinity,
  });
  if (!allowed) return null;
  return <Loaded query={query}>{(text) => <CodeView text={text} label="payload" />}</Loaded>;
}
