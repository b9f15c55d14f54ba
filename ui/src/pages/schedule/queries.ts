/** What only the pages of schedules ask for. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "@/api/client";
import { type Node, parseJson, prettyJson } from "@/design/json";

export const upcoming = (name: string) =>
  queryOptions({
    queryKey: ["schedules", name, "next"],
    queryFn: ({ signal }) => api.get("/v1/schedules/{name}/next", { path: { name }, query: { n: 10 }, signal }),
  });

export const occurrences = (name: string) =>
  queryOptions({
    queryKey: ["schedules", name, "occurrences"],
    queryFn: ({ signal }) => api.get("/v1/schedules/{name}/occurrences", { path: { name }, query: { limit: 50 }, signal }),
    placeholderData: keepPreviousData,
  });

/** When a schedule that is being written would fire. `request` is its JSON. */
export const preview = (request: string) =>
  queryOptions({
    queryKey: ["schedules:preview", request],
    queryFn: ({ signal }) => api.post("/v1/schedules:preview", { body: request as never, signal }),
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 30_000,
  });

const partOf = (node: Node | undefined, key: string): Node | undefined => (node?.type === "object" ? node.entries.find((entry) => entry.key === key)?.value : undefined);

/** The payload of a schedule's job as the server wrote it: numbers keep every digit. Empty if there is none. */
export const payloadOf = (name: string) =>
  queryOptions({
    queryKey: ["schedules", name, "payload"],
    queryFn: async ({ signal }) => {
      const root = parseJson(await api.text("/v1/schedules/{name}", { name }, undefined, signal));
      const payload = partOf(partOf(root, "job"), "payload");
      return payload === undefined ? "" : prettyJson(payload);
    },
  });
