/** The page of one job. */
import { getRouteApi } from "@tanstack/react-router";
import { JobView } from "./JobView";

const route = getRouteApi("/jobs/$id");

export default function JobPage() {
  const { id } = route.useParams();
  const { tab = "payload" } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <h1 className="sr-only">Job {id}</h1>
      <JobView key={id} id={id} tab={tab} onTab={(next) => void navigate({ replace: true, resetScroll: false, search: (before) => ({ ...before, tab: next === "payload" ? undefined : next }) })} />
    </>
  );
}
