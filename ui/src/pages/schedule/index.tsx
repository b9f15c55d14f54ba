/** One schedule. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { schedule } from "@/api/queries";
import { Facts, PageHeader, Panel, Time } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";

const route = getRouteApi("/schedules/$name");

export default function Schedule() {
  const { name } = route.useParams();
  const query = useQuery(schedule(name));
  useLiveQueries(["schedule"], [["schedules", name]]);
  return (
    <>
      <PageHeader title={name} />
      <Panel title="Schedule">
        <Loaded query={query}>
          {(data) => (
            <Facts
              items={[
                ["Rule", data.cron ?? data.at ?? String(data.every ?? "")],
                ["Zone", data.time_zone],
                ["Paused", data.paused ? "yes" : "no"],
                ["Kind", data.job.kind],
                ["Overlap", data.overlap],
                ["Missed instants", data.misfire],
                ["Next", <Time key="next" at={data.status?.next} />],
              ]}
            />
          )}
        </Loaded>
      </Panel>
    </>
  );
}
