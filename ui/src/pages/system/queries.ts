/** What only the system's page asks for. */
import { queryOptions } from "@tanstack/react-query";
import { api } from "@/api/client";

export const system = () =>
  queryOptions({ queryKey: ["system"], queryFn: ({ signal }) => api.get("/v1/system", { signal }), refetchInterval: 5000 });

export const users = () => queryOptions({ queryKey: ["users"], queryFn: ({ signal }) => api.get("/v1/users", { signal }) });

export const tokens = () => queryOptions({ queryKey: ["tokens"], queryFn: ({ signal }) => api.get("/v1/tokens", { signal }) });
