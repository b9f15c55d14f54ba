/** One bulk operation. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { operation } from "@/api/queries";
import { Facts, Num, PageHeader, Panel, Time } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";

const route = getRouteApi("/operations/$id");

export default function Operation() {
  const { id } = route.useParams();
  const query = useQuery(operation(id));
  useLiveQueries(["operation"], [["operations", id]]);
  return (
    <>
      <PageHeader title={id} />
      <Panel title="Operation">
        <Loaded query={query}>
          {(data) => (
            <Facts
              items={[
                ["Action", data.action],
                ["State", data.state],
                ["Filter", data.filter ?? (data.all ? "all jobs" : `${data.ids ?? 0} ids`)],
                ["Done", <Num key="done" value={data.done} unit="jobs" />],
                ["Skipped", <Num key="skipped" value={data.skipped} unit="jobs" />],
                ["Begun", <Time key="begun" at={data.created_at} />],
                ["Over", <Time key="over" at={data.finished_at} />],
              ]}
            />
          )}
        </Loaded>
      </Panel>
    </>
  );
}
