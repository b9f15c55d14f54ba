/** One queue: how it is, what it holds, what comes next, and what holds it back. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { queue as queueQuery, queues, stats } from "@/api/queries";
import { type Queue as QueueData, STATES } from "@/api/types";
import { CliLine, Duration, EmptyState, Facts, Num, PageHeader, Panel, StateLabel } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";
import { StateBar, VerdictStrip } from "@/pages/glyphs";
import { QueueActions } from "./actions";
import { Charts, useQueueSeries, useSettled } from "./Charts";
import { ratesOf, recentRate, verdictOf } from "./flow";
import { Head } from "./Head";
import { limitsInWords } from "./limits";

const route = getRouteApi("/queues/$queue");

export default function Queue() {
  const { queue } = route.useParams();
  const query = useQuery(queueQuery(queue));
  // Any name has settings; a queue is there once a job, a worker or somebody who set it up has named it.
  const known = useQuery(queues()).data?.items;
  useLiveQueries(["counts", "queue"], [["queues"]]);
  if (known && query.data && !known.some((each) => each.queue === queue)) {
    return (
      <EmptyState title={`There is no queue ${queue}`} action={<Link to="/queues">All queues</Link>}>
        The first job of a queue creates it: <code>ganger enqueue KIND --queue {queue}</code>
      </EmptyState>
    );
  }
  return (
    <>
      <PageHeader title={queue} actions={query.data ? <QueueActions queue={query.data} /> : null} />
      <Loaded query={query}>{(data) => <Content queue={data} />}</Loaded>
    </>
  );
}

function Content({ queue }: { queue: QueueData }) {
  const name = queue.queue;
  const finished = recentRate(ratesOf(useSettled(useQueueSeries(name, "throughput").data), (point) => point.count));
  const enqueued = recentRate(ratesOf(useSettled(useQueueSeries(name, "enqueued").data), (point) => point.count));
  const verdict = verdictOf(queue, { enqueued, finished });
  // What the server has against it beyond that: no worker for one of its kinds, say.
  const findings = (useQuery(stats()).data?.verdict?.findings ?? []).filter((each) => each.queue === name && !queue.paused && !queue.draining && queue.workers > 0);
  const tone = findings.some((each) => each.severity === "bad") ? "bad" : findings.length > 0 && verdict.tone === "well" ? "warn" : verdict.tone;
  const holds = STATES.some((state) => (queue.jobs[state] ?? 0) > 0);
  return (
    <div className="flex flex-col gap-4">
      <div className="-mb-4">
        <VerdictStrip tone={tone}>
          <span className="font-medium">{verdict.text}</span>
          {findings.map(({ text }) => (
            <span key={text}>
              {text.charAt(0).toUpperCase()}
              {text.slice(1)}.
            </span>
          ))}
          {verdict.command ? <CliLine command={verdict.command} /> : null}
        </VerdictStrip>
      </div>
      <div className="grid grid-cols-[minmax(0,2fr)_minmax(0,1fr)] gap-4 max-md:grid-cols-1">
        <Panel title="Jobs now" aside={<Link to="/jobs" search={{ q: `queue:${name}` }}>List them</Link>}>
          {holds ? (
            <div className="flex flex-col gap-3 p-3">
              <StateBar counts={queue.jobs} />
              <ul className="grid grid-cols-4 gap-x-4 gap-y-2 max-sm:grid-cols-2">
                {STATES.map((state) => (
                  <li key={state}>
                    <Link to="/jobs" search={{ q: `queue:${name} state:${state}` }} className="quiet-link flex flex-col">
                      <StateLabel state={state} />
                      <span className="text-16 font-medium">
                        <Num value={queue.jobs[state] ?? 0} unit="jobs" />
                      </span>
                    </Link>
                  </li>
                ))}
              </ul>
            </div>
          ) : (
            <EmptyState title="Nothing was submitted to this queue yet">
              It exists because a worker serves it or somebody set it up. Submit a job: <code>ganger enqueue KIND --queue {name}</code>
            </EmptyState>
          )}
        </Panel>
        <Panel title="Settings">
          <Facts
            items={[
              ["Limits", limitsInWords(queue) || "none"],
              ["Workers that serve it", <Num key="workers" value={queue.workers} unit="workers" />],
              ["Oldest ready", <Duration key="oldest" ms={queue.oldest_ready_ms} />],
              ["Weight among queues", <Num key="weight" value={queue.weight ?? 1} />],
              ["Precedence", String(queue.precedence ?? 0)],
              ["Next worker", queue.policy.replaceAll("_", " ")],
              ["Ageing", queue.ageing ? `one priority every ${String(queue.ageing.every)}` : "none"],
              ["Finished jobs are kept", queue.retention.finished],
              ["Dead jobs are kept", queue.retention.dead],
            ]}
          />
        </Panel>
      </div>
      <Charts queue={queue} />
      <Head queue={name} />
    </div>
  );
}
