/** What was submitted from this form, each job followed until it has ended. */
import { Link } from "@tanstack/react-router";
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
      {job?.last_error ? <div className="truncate text-12 text-muted" title={job.last_error}>{job.last_error}</div> : null}
    </li>
  );
}
