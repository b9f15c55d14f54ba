/** What may explain a bend in the flow: who leads, queues that were paused, what was done to many jobs. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api } from "@/api/client";
import { cluster, operations, useMay } from "@/api/queries";
import type { components } from "@/api/schema";
import type { Operation } from "@/api/types";
import type { Mark } from "@/design/marks";
import { useLiveQueries } from "@/live/hooks";
import { titleOf } from "@/pages/operations/progress";

type Entry = components["schemas"]["AuditEntryBody"];
type Leader = components["schemas"]["LeaderBody"];

const SAID: Record<string, string> = { pause: "paused", resume: "resumed", drain: "draining" };

/** Pure. The first leader of all is no news: nothing flowed before it. */
export function marksOf(leader: Leader | null | undefined, noted: readonly Entry[], bulk: readonly Operation[]): Mark[] {
  const seconds = (text: string) => Date.parse(text) / 1000;
  const marks: Mark[] = leader && leader.term > 1 ? [{ at: seconds(leader.since), label: `${leader.name} leads` }] : [];
  for (const { at, operation } of noted) {
    const [, queue, verb = ""] = /\/v1\/queues\/([^/:]+):(\w+)$/.exec(operation) ?? [];
    if (queue && SAID[verb]) marks.push({ at: seconds(at), label: `${decodeURIComponent(queue)} ${SAID[verb]}` });
  }
  for (const operation of bulk) marks.push({ at: seconds(operation.created_at), label: titleOf(operation) });
  return marks;
}

/** So many of the last notes are looked at. */
const NOTES = 100;

export function useHappened(): readonly Mark[] {
  const mayAudit = useMay("audit", "*");
  const leader = useQuery(cluster()).data?.leader;
  const bulk = useQuery(operations()).data?.items;
  const noted = useQuery({
    queryKey: ["audit", "of-queues"],
    queryFn: ({ signal }) => api.get("/v1/audit", { query: { limit: NOTES }, signal }),
    enabled: mayAudit,
  }).data?.items;
  useLiveQueries(["queue"], [["audit", "of-queues"]]);
  useLiveQueries(["operation"], [["operations"]]);
  return useMemo(() => marksOf(leader, noted ?? [], bulk ?? []), [leader, noted, bulk]);
}
