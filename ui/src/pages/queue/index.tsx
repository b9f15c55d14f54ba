/** One queue. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { queue as queueQuery } from "@/api/queries";
import { Duration, Facts, Num, PageHeader, Panel } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";

const route = getRouteApi("/queues/$queue");

export default function Queue() {
  const { queue } = route.useParams();
  const query = useQuery(queueQuery(queue));
  useLiveQueries(["counts", "queue"], [["queues", queue]]);
  return (
    <>
      <PageHeader title={queue} />
      <Panel title="Queue">
        <Loaded query={query}>
          {(data) => (
            <Facts
              items={[
                ["Policy", data.policy],
                ["Paused", data.paused ? "yes" : "no"],
                ["Ready", <Num key="ready" value={data.jobs.queued} unit="jobs" />],
                ["Running", <Num key="running" value={data.jobs.running} unit="jobs" />],
                ["Oldest ready", <Duration key="oldest" ms={data.oldest_ready_ms} />],
                ["Workers", <Num key="workers" value={data.workers} unit="workers" />],
              ]}
            />
          )}
        </Loaded>
      </Panel>
    </>
  );
}
