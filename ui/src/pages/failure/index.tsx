/** One cause of failures. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { failure } from "@/api/queries";
import { Facts, Num, PageHeader, Panel, Time } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";

const route = getRouteApi("/failures/$fingerprint");

export default function Failure() {
  const { fingerprint } = route.useParams();
  const query = useQuery(failure(fingerprint));
  useLiveQueries(["counts"], [["failures", fingerprint]]);
  return (
    <>
      <PageHeader title={query.data?.error ?? fingerprint} />
      <Panel title="Failure">
        <Loaded query={query}>
          {(data) => (
            <Facts
              items={[
                ["Error", data.error],
                ["Kind", data.kind],
                ["Seen", <Num key="count" value={data.count} unit="times" />],
                ["First seen", <Time key="first" at={data.first_at} />],
                ["Last seen", <Time key="last" at={data.last_at} />],
              ]}
            />
          )}
        </Loaded>
      </Panel>
    </>
  );
}
