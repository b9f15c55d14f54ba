/** What only the pages of queues ask for. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "@/api/client";

/** The next jobs in the order in which they start, and what holds each. */
export const head = (name: string) =>
  queryOptions({
    queryKey: ["queues", name, "head"],
    queryFn: ({ signal }) => api.get("/v1/queues/{queue}/head", { path: { queue: name }, query: { limit: 20 }, signal }),
    placeholderData: keepPreviousData,
  });
