/** Why a job failed: the message first, what was under it folded, and how often the same was seen. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { attempts, failure } from "@/api/queries";
import type { Job } from "@/api/types";
import { CopyButton, formatExact, Time } from "@/design";

export function ErrorCard({ job, error }: { job: Job; error: string }) {
  const group = useQuery({ ...failure(job.failure ?? ""), enabled: Boolean(job.failure), retry: false }).data;
  const tries = useQuery(attempts(job.id)).data?.items ?? [];
  const before = tries.findLast((each) => each.attempt < job.attempt && each.error)?.error;
  const [message = "", ...rest] = error.split("\n");
  return (
    <section aria-label="Last error" className="rounded border border-line border-l-2 border-l-dead bg-surface px-4 py-3">
      <header className="flex items-center gap-2 text-12 text-muted">
        <h2 className="font-medium">{job.state === "retrying" ? "The last attempt failed" : "Last error"}</h2>
        {job.reason ? <span>· {job.reason}</span> : null}
        <span className="ml-auto">
          <CopyButton text={error} label="Copy error" />
        </span>
      </header>
      <p className="font-mono text-13 break-words whitespace-pre-wrap">{message}</p>
      {rest.length > 0 ? (
        <details className="pt-1">
          <summary className="w-max cursor-pointer text-12 text-muted">
            {rest.length} more {rest.length === 1 ? "line" : "lines"}
          </summary>
          <pre className="pt-1 text-12 break-words whitespace-pre-wrap text-muted">{rest.join("\n")}</pre>
        </details>
      ) : null}
      {before && firstLine(before) !== message ? (
        <p className="pt-2 text-12 text-muted">
          Another error than before: <code>{firstLine(before)}</code>
        </p>
      ) : null}
      {job.failure ? (
        <p className="pt-2 text-12 text-muted">
          {group ? (
            <>
              Seen {formatExact(group.count)} {group.count === 1 ? "time" : "times"}, first <Time at={group.first_at} /> ·{" "}
            </>
          ) : null}
          <Link to="/failures/$fingerprint" params={{ fingerprint: job.failure }}>
            Failures of the same cause
          </Link>
        </p>
      ) : null}
    </section>
  );
}

const firstLine = (text: string) => text.split("\n", 1)[0] ?? "";
