/** One life of a worker. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { worker } from "@/api/queries";
import { Duration, Facts, PageHeader, Panel, Time } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";

const route = getRouteApi("/workers/$id");

export default function Worker() {
  const { id } = route.useParams();
  const query = useQuery(worker(id));
  useLiveQueries(["worker"], [["workers", id]]);
  return (
    <>
      <PageHeader title={query.data?.name ?? id} />
      <Panel title="Worker">
        <Loaded query={query}>
          {(data) => (
            <Facts
              items={[
                ["State", data.state],
                ["Threads", `${data.threads_used} of ${data.threads}`],
                ["Queues", data.queues.join(", ") || "all"],
                ["Kinds", data.kinds.join(", ")],
                ["Version", data.version],
                ["Since", <Time key="since" at={data.opened_at} />],
                ["Silent for", <Duration key="silent" ms={data.silent_ms} />],
              ]}
            />
          )}
        </Loaded>
      </Panel>
    </>
  );
}
