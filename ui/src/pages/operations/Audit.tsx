/** Who did what, the latest first. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { api } from "@/api/client";
import type { components } from "@/api/schema";
import { type Column, EmptyState, Time, VirtualTable } from "@/design";
import { Loaded } from "@/pages/data";

type Entry = components["schemas"]["AuditEntryBody"];

const columns: readonly Column<Entry>[] = [
  { id: "at", header: "When", width: "140px", time: true, cell: (row) => <Time at={row.at} /> },
  { id: "who", header: "Who", width: "minmax(130px,1fr)", cell: (row) => row.who },
  { id: "operation", header: "What was asked for", width: "minmax(220px,2fr)", cell: (row) => <code className="text-12">{row.operation}</code> },
  { id: "target", header: "Target", width: "minmax(120px,1fr)", notOnCard: true, cell: (row) => row.target },
  { id: "from", header: "From", width: "130px", notOnCard: true, cell: (row) => <span className="text-muted">{row.from ?? "—"}</span> },
  { id: "request", header: "Request", width: "minmax(100px,1fr)", notOnCard: true, cell: (row) => <code className="text-12 text-muted" title={row.request_id ?? undefined}>{row.request_id ?? "—"}</code> },
];

export function Audit() {
  const [who, setWho] = useState("");
  const list = useInfiniteQuery({
    queryKey: ["audit", who],
    queryFn: ({ signal, pageParam }) => api.get("/v1/audit", { query: { limit: 100, cursor: pageParam, ...(who ? { who } : {}) }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: 15_000,
  });
  const rows = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? [], [list.data]);
  return (
    <>
      <form
        className="flex gap-3 pb-3"
        onSubmit={(event) => {
          event.preventDefault();
          setWho(String(new FormData(event.currentTarget).get("who") ?? "").trim());
        }}
      >
        <input data-page-search name="who" type="search" className="field w-64 max-w-full" aria-label="Only what this caller did" placeholder="Only of user:ada, then Enter" />
      </form>
      <Loaded query={list}>
        {() =>
          rows.length === 0 ? (
            <EmptyState title={who ? `Nothing is noted of ${who}` : "Nothing is noted yet"}>
              {who ? "Callers are written as user:ada, token:4k2m9x7q0b1c or certificate:gpu-1." : "What people and programs change is noted here once the server asks who they are."}
            </EmptyState>
          ) : (
            <VirtualTable
              label="Audit log"
              rows={rows}
              rowId={(row) => row.id}
              columns={columns}
              onEnd={() => {
                if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
              }}
              loadingMore={list.isFetchingNextPage}
            />
          )
        }
      </Loaded>
    </>
  );
}
