/**
 * What pages ask for, each with its key.
 *
 * The first part of a key is the noun (`jobs`, `queues`, …): live events make everything of a noun stale by it.
 */
import { infiniteQueryOptions, keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { api } from "./client";
import { matches } from "./glob";
import type { Job, Permission, Who } from "./types";

const SECOND = 1000;

export const whoami = () =>
  queryOptions({
    queryKey: ["whoami"],
    queryFn: ({ signal }) => api.get("/v1/whoami", { signal }),
    staleTime: 60 * SECOND,
  });

export const capabilities = () =>
  queryOptions({
    queryKey: ["capabilities"],
    queryFn: ({ signal }) => api.get("/v1/capabilities", { signal }),
    staleTime: 10 * 60 * SECOND,
  });

export const stats = () =>
  queryOptions({ queryKey: ["stats"], queryFn: ({ signal }) => api.get("/v1/stats", { signal }) });

/** Jobs by queue and kind. The stream's counts leave them out, so they are read and kept apart. */
export const kindCounts = () =>
  queryOptions({
    queryKey: ["stats", "by_kind"],
    queryFn: async ({ signal }) => (await api.get("/v1/stats", { signal })).by_kind,
  });

export const queues = () =>
  queryOptions({ queryKey: ["queues"], queryFn: ({ signal }) => api.get("/v1/queues", { signal }) });

export const queue = (name: string) =>
  queryOptions({
    queryKey: ["queues", name],
    queryFn: ({ signal }) => api.get("/v1/queues/{queue}", { path: { queue: name }, signal }),
  });

export const workers = () =>
  queryOptions({ queryKey: ["workers"], queryFn: ({ signal }) => api.get("/v1/workers", { signal }) });

export const worker = (id: string) =>
  queryOptions({
    queryKey: ["workers", id],
    queryFn: ({ signal }) => api.get("/v1/workers/{id}", { path: { id }, signal }),
  });

export const schedules = () =>
  infiniteQueryOptions({
    queryKey: ["schedules"],
    queryFn: ({ signal, pageParam }) =>
      api.get("/v1/schedules", { query: { limit: 100, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

export const schedule = (name: string) =>
  queryOptions({
    queryKey: ["schedules", name],
    queryFn: ({ signal }) => api.get("/v1/schedules/{name}", { path: { name }, signal }),
  });

export const operations = () =>
  queryOptions({ queryKey: ["operations"], queryFn: ({ signal }) => api.get("/v1/operations", { signal }) });

export const operation = (id: string) =>
  queryOptions({
    queryKey: ["operations", id],
    queryFn: ({ signal }) => api.get("/v1/operations/{id}", { path: { id }, signal }),
  });

export const failures = (window: string, limit?: number) =>
  queryOptions({
    queryKey: ["failures", { window, limit }],
    queryFn: ({ signal }) => api.get("/v1/failures", { query: { window, limit }, signal }),
    placeholderData: keepPreviousData,
  });

export const failure = (fingerprint: string) =>
  queryOptions({
    queryKey: ["failures", fingerprint],
    queryFn: ({ signal }) => api.get("/v1/failures/{fingerprint}", { path: { fingerprint }, signal }),
  });

export const kinds = () =>
  queryOptions({ queryKey: ["kinds"], queryFn: ({ signal }) => api.get("/v1/kinds", { signal }) });

export const views = () =>
  queryOptions({ queryKey: ["views"], queryFn: ({ signal }) => api.get("/v1/views", { signal }) });

export const cluster = () =>
  queryOptions({ queryKey: ["cluster"], queryFn: ({ signal }) => api.get("/v1/cluster", { signal }) });

/** A list of jobs, fifty at a time, newest first. */
export const jobs = (q: string) =>
  infiniteQueryOptions({
    queryKey: ["jobs", { q }],
    queryFn: ({ signal, pageParam }) => api.get("/v1/jobs", { query: { q: q || undefined, limit: 50, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    staleTime: Infinity,
  });

/** How many jobs match, over the time at which they were taken in. */
export const histogram = (q: string, buckets = 60) =>
  queryOptions({
    queryKey: ["histogram", { q, buckets }],
    queryFn: ({ signal }) => api.get("/v1/jobs:histogram", { query: { q: q || undefined, buckets }, signal }),
    staleTime: 30 * SECOND,
    retry: false,
  });

export const job = (id: string) =>
  queryOptions({
    queryKey: ["jobs", id],
    queryFn: async ({ signal }) => (await api.get("/v1/jobs/{id}", { path: { id }, signal })) as Job,
  });

/** What went into a job, as it was sent. It never changes, so it is read once. */
export const payload = (id: string) =>
  queryOptions({
    queryKey: ["jobs", id, "payload"],
    queryFn: ({ signal }) => api.text("/v1/jobs/{id}/payload", { id }, undefined, signal),
    staleTime: Infinity,
  });

export const attempts = (id: string) =>
  queryOptions({
    queryKey: ["jobs", id, "attempts"],
    queryFn: ({ signal }) => api.get("/v1/jobs/{id}/attempts", { path: { id }, signal }),
  });

export const explanation = (id: string) =>
  queryOptions({
    queryKey: ["jobs", id, "explain"],
    queryFn: ({ signal }) => api.get("/v1/jobs/{id}/explain", { path: { id }, signal }),
  });

/** Figures over time. `from` and `to` are part of the key: round them, or nothing is ever found again. */
export const timeseries = (query: {
  metric: "throughput" | "wait" | "run" | "total" | "failures" | "enqueued";
  from?: string;
  to?: string;
  step?: string;
  by?: "queue" | "kind";
  queue?: string;
  kind?: string;
}) =>
  queryOptions({
    queryKey: ["timeseries", query],
    queryFn: ({ signal }) => api.get("/v1/stats/timeseries", { query, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: 30 * SECOND,
  });

/** Whether this caller may do that; nobody is told "yes" before the server has said so. */
export function may(who: Who | undefined, permission: Permission, queueName?: string): boolean {
  if (!who?.permissions.includes(permission)) return false;
  return queueName === undefined ? true : who.queues.some((glob) => matches(glob, queueName));
}

/** Whether somebody may do this, with that queue if one is named. What is not allowed is not rendered. */
export function useMay(permission: Permission, queueName?: string): boolean {
  return may(useQuery(whoami()).data, permission, queueName);
}
