/** What most pages need: a query's panel that loads, fails alone, or shows. */
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Problem } from "@/api/problem";
import { ErrorPanel, SkeletonRows } from "@/design";
import { Forbidden } from "@/shell/Refused";

/** Shows the data of a query. What was read before stays on the screen, dimmed by its own error, while it cannot be read again. */
export function Loaded<T>({ query, children, rows }: { query: Pick<UseQueryResult<T>, "data" | "error" | "refetch" | "isPending">; children: (data: T) => ReactNode; rows?: number }) {
  if (query.data === undefined) {
    if (!query.error) return <SkeletonRows {...(rows ? { rows } : {})} />;
    const problem = Problem.from(query.error);
    if (problem.status === 403) return <Forbidden problem={problem} />;
    return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  }
  return (
    <>
      {query.error ? <ErrorPanel error={query.error} title="This could not be read again; older data is shown" onRetry={() => void query.refetch()} /> : null}
      {children(query.data)}
    </>
  );
}
