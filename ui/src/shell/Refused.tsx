/** What is shown in place of a page: it is not there, it is not allowed, it crashed. The shell stays alive around it. */
import { useQuery } from "@tanstack/react-query";
import { type ErrorComponentProps, Link, useLocation, useRouter } from "@tanstack/react-router";
import { capabilities, whoami } from "@/api/queries";
import { Problem } from "@/api/problem";
import { Button } from "@/design/Button";
import { CopyButton } from "@/design/CopyButton";
import { EmptyState, ErrorPanel } from "@/design/parts";
import { forgetFailures } from "./lazy";

export function NotFound() {
  const { pathname } = useLocation();
  return (
    <EmptyState
      title="There is no such page"
      action={
        <Link to="/" className="text-accent">
          Go to the overview
        </Link>
      }
    >
      Nothing lives at <code>{pathname}</code>. A job, queue or worker can be found by its id or name with the search above.
    </EmptyState>
  );
}

/** Names what is missing and who can give it. */
export function Forbidden({ problem }: { problem: Problem }) {
  const who = useQuery(whoami()).data;
  const permission = problem.permission;
  return (
    <EmptyState title={permission ? `This needs the permission “${permission}”` : "This is not allowed"}>
      <p>{problem.detail}</p>
      <p className="pt-2">
        You are <code>{who?.who ?? "not known"}</code>
        {who ? ` and may: ${who.permissions.join(", ") || "nothing"}.` : "."} Anybody with the permission “admin” can give
        another role, with <code>ganger user</code> or <code>ganger token</code>.
      </p>
      {problem.requestId ? <p className="pt-2 text-12">request {problem.requestId}</p> : null}
    </EmptyState>
  );
}

/** The page failed, and only the page. */
export function Crash({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const { pathname } = useLocation();
  const version = useQuery(capabilities()).data?.version;
  const problem = Problem.from(error);
  if (problem.status === 403) return <Forbidden problem={problem} />;
  // No payloads: a report is pasted into public places.
  const report = () =>
    [
      `Ganger ${version ?? "?"}, page ${pathname.replace(/(job|op|wrk)_\w+/g, "$1_…")}`,
      `${problem.code}: ${problem.detail}`,
      problem.requestId ? `request ${problem.requestId}` : "",
      error instanceof Error ? (error.stack ?? "") : "",
      navigator.userAgent,
    ]
      .filter(Boolean)
      .join("\n");
  const again = () => {
    forgetFailures();
    reset();
    void router.invalidate();
  };
  return (
    <div className="flex max-w-3xl flex-col gap-3">
      <ErrorPanel error={error} title="This page failed; the rest goes on" onRetry={again} />
      <div className="flex gap-2">
        <CopyButton text={report} label="Copy report">
          Copy report
        </CopyButton>
        <Button small look="quiet" onClick={() => location.reload()}>
          Load everything again
        </Button>
      </div>
    </div>
  );
}
