/** What most pages need: a query's panel that loads, fails alone, or shows. */
import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Problem } from "@/api/problem";
import { ErrorPanel, SkeletonRows } from "@/design";
import { Forbidden } from "@/shell/Refused";

/** The last data of a query whose question moves on with the time: while it cannot be read, the chart stays. */
export function useKept<T>(data: T | undefined): T | undefined {
  const [kept, setKept] = useState(data);
  if (data !== undefined && data !== kept) setKept(data);
  return data ?? kept;
}

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
      <div className={query.error ? "opacity-60" : "contents"}>{children(query.data)}</div>
    </>
  );
}
