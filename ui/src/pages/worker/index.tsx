/** The page of one worker. */
import { getRouteApi } from "@tanstack/react-router";
import { PageHeader } from "@/design";
import { Loaded } from "@/pages/data";
import { Drain, useWorker, WorkerView } from "./WorkerView";

const route = getRouteApi("/workers/$id");

export default function Worker() {
  const { id } = route.useParams();
  const query = useWorker(id);
  return (
    <>
      <PageHeader title={query.data?.name ?? id} actions={query.data ? <Drain worker={query.data} /> : null}>
        Worker session <code className="text-12">{id}</code>
      </PageHeader>
      <Loaded query={query}>{(data) => <WorkerView worker={data} />}</Loaded>
    </>
  );
}
