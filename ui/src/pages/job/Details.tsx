/** The rest of what is known about a job: what went in, what came out, what it logged, what happened, what belongs to it. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { api } from "@/api/client";
import { payload, useMay } from "@/api/queries";
import type { Job, JobEvent, State } from "@/api/types";
import { CodeView, EmptyState, Panel, shortId, StateLabel, Tabs, Time } from "@/design";
import { quote } from "@/pages/jobs/filter";
import { Loaded } from "@/pages/data";
import { Logs } from "./Logs";
import { NotAllowed } from "./NotAllowed";

export function Details({ job, tab, onTab }: { job: Job; tab: string; onTab: (tab: string) => void }) {
  const tabs = [
    { id: "payload", label: "Payload", content: <Payload job={job} /> },
    { id: "result", label: "Result", content: <Result job={job} /> },
    { id: "logs", label: "Logs", content: <Logs job={job} /> },
    { id: "events", label: "Events", content: <Events id={job.id} /> },
    { id: "related", label: "Related", content: <Related job={job} /> },
  ];
  return <Tabs label="About this job" tabs={tabs} value={tabs.some((each) => each.id === tab) ? tab : "payload"} onChange={onTab} />;
}

function Payload({ job }: { job: Job }) {
  const allowed = useMay("read_payload", job.queue);
  const navigate = useNavigate();
  const query = useQuery({ ...payload(job.id), enabled: allowed });
  if (!allowed) return <NotAllowed what="Payloads" />;
  return (
    <Loaded query={query}>
      {(text) => <CodeView text={text} label="payload" onFilter={(path, value) => void navigate({ to: "/jobs", search: { q: `${path}:${quote(value)}` } })} />}
    </Loaded>
  );
}

function Result({ job }: { job: Job }) {
  const allowed = useMay("read_payload", job.queue);
  const ready = job.state === "succeeded";
  const query = useQuery({
    queryKey: ["jobs", job.id, "result", job.attempt],
    queryFn: ({ signal }) => api.text("/v1/jobs/{id}/result", { id: job.id }, undefined, signal),
    enabled: allowed && ready,
    staleTime: Infinity,
  });
  if (!allowed) return <NotAllowed what="Results" />;
  if (!ready) return <EmptyState title="There is no result">{job.state === "dead" || job.state === "cancelled" ? "Only a job that succeeded has one." : "It comes when the job has succeeded."}</EmptyState>;
  return <Loaded query={query}>{(text) => (text.trim() === "null" || text === "" ? <EmptyState title="This job returned nothing" /> : <CodeView text={text} label="result" />)}</Loaded>;
}

const SAYS: Record<string, string> = { created: "created", started: "started", ended: "ended", asked: "asked for", succeeded: "succeeded", dead: "died", cancelled: "cancelled" };

function Events({ id }: { id: string }) {
  const query = useQuery({
    queryKey: ["jobs", id, "events"],
    queryFn: ({ signal }) => api.get("/v1/jobs/{id}/events", { path: { id }, signal }),
  });
  return (
    <Loaded query={query}>
      {({ items }) => (
        <ol className="panel flex flex-col" aria-label="What happened">
          {items.map((event, index) => (
            <li key={`${event.at}${event.event}${event.attempt ?? index}`} className="flex min-h-(--row) flex-wrap items-center gap-x-3 border-b border-line px-3 last:border-b-0">
              <span className="w-24">
                <Time at={event.at} />
              </span>
              <span>{sentence(event)}</span>
              {event.text ? <span className="min-w-0 truncate text-muted">{event.text.split("\n")[0]}</span> : null}
            </li>
          ))}
        </ol>
      )}
    </Loaded>
  );
}

/** "Attempt 2 ended: error, on local-1". */
function sentence(event: JobEvent): string {
  const what = SAYS[event.event] ?? event.event;
  const said = event.attempt ? `attempt ${event.attempt} ${what}` : what;
  const parts = [event.outcome ? `: ${event.outcome}` : "", event.worker ? `, on ${event.worker}` : "", event.who ? ` by ${event.who}` : ""];
  return said.charAt(0).toUpperCase() + said.slice(1) + parts.join("");
}

function Related({ job }: { job: Job }) {
  const query = useQuery({
    queryKey: ["jobs", job.id, "related"],
    queryFn: ({ signal }) => api.get("/v1/jobs/{id}/related", { path: { id: job.id }, signal }),
  });
  const links = [
    ...(job.unique_key ? [["Jobs with the same key", `key:${quote(job.unique_key)}`]] : []),
    ...(job.schedule ? [["Jobs of the same schedule", `schedule:${quote(job.schedule.name)}`]] : []),
    ["Jobs of the same kind and queue", `kind:${quote(job.kind)} queue:${quote(job.queue)}`],
  ] as [string, string][];
  return (
    <div className="flex flex-col gap-3">
      <Loaded query={query} rows={2}>
        {({ parents, children }) => (
          <>
            <Jobs title="It waits for, or waited for" items={parents.items} />
            <Jobs title="Waiting for it" items={children.items} />
            {parents.items.length + children.items.length === 0 ? <p className="text-muted">It depends on no other job, and none depends on it.</p> : null}
          </>
        )}
      </Loaded>
      <ul className="flex flex-col gap-1">
        {links.map(([label, q]) => (
          <li key={label}>
            <Link to="/jobs" search={{ q }}>
              {label}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Jobs({ title, items }: { title: string; items: readonly { id: string; kind?: string | null; state?: string | null }[] }) {
  if (items.length === 0) return null;
  return (
    <Panel title={title}>
      <ul className="flex flex-col">
        {items.map((item) => (
          <li key={item.id} className="flex min-h-(--row) items-center gap-4 border-b border-line px-3 last:border-b-0">
            <span className="w-28">{item.state ? <StateLabel state={item.state as State} /> : <span className="text-muted">not kept</span>}</span>
            <Link to="/jobs/$id" params={{ id: item.id }} className="font-mono text-12">
              {shortId(item.id)}
            </Link>
            <span>{item.kind}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
