/** What was submitted from this form, each job followed until it has ended. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api } from "@/api/client";
import { useMay } from "@/api/queries";
import { FINAL } from "@/api/types";
import { Duration, Panel, shortId, Skeleton, StateLabel } from "@/design";
import { useFollowed } from "./follow";

export function Submitted({ made }: { made: readonly { id: string; deduplicated: boolean }[] }) {
  if (made.length === 0) return null;
  return (
    <Panel title="Submitted">
      <ul aria-live="polite">
        {made.map((each) => (
          <One key={each.id} {...each} />
        ))}
      </ul>
    </Panel>
  );
}

function One({ id, deduplicated }: { id: string; deduplicated: boolean }) {
  const job = useFollowed(id).data;
  return (
    <li className="appearing flex flex-col gap-0.5 border-b border-line px-3 py-2 last:border-0">
      <div className="flex flex-wrap items-center gap-x-3">
        {job ? <StateLabel state={job.state} /> : <Skeleton className="h-4 w-20" />}
        <Link to="/jobs/$id" params={{ id }} className="font-mono text-12">
          {shortId(id)}
        </Link>
        <span className="text-muted">{job?.kind}</span>
        {job && FINAL.includes(job.state) ? (
          <span className="ml-auto text-muted">
            <Duration ms={job.total_time_ms} />
          </span>
        ) : null}
      </div>
      {deduplicated ? <div className="text-12 text-muted">Nothing new was made: this job holds the unique key.</div> : null}
      {job?.state === "succeeded" ? <Result id={id} /> : null}
      {job?.last_error && job.state !== "succeeded" ? <div className="truncate text-12 text-muted" title={job.last_error}>{job.last_error}</div> : null}
    </li>
  );
}

/** A longer one is on the page of the job. */
const MOST_SHOWN = 200;

/** What it returned, every digit as it is. A job without a result has nothing to show. */
function Result({ id }: { id: string }) {
  const allowed = useMay("read_payload");
  const text = useQuery({
    queryKey: ["jobs", id, "result", "text"],
    queryFn: ({ signal }) => api.text("/v1/jobs/{id}/result", { id }, undefined, signal),
    enabled: allowed,
    staleTime: Infinity,
    retry: false,
  }).data?.trim();
  if (!text || text === "null") return null;
  return <code className="truncate text-12 text-muted">{text.slice(0, MOST_SHOWN)}</code>;
}
