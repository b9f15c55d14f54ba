/** Follows one job until it has ended. The server answers as soon as it is final, so the tick is there when it happens. */
import { useQuery } from "@tanstack/react-query";
import { api } from "@/api/client";
import { FINAL, type Job } from "@/api/types";

/** Asked again after this. */
const WAIT = "10s";

export function useFollowed(id: string | undefined) {
  return useQuery({
    queryKey: ["jobs", id, "followed"],
    queryFn: async ({ signal, client, queryKey }) => {
      // The first answer comes at once; those after it wait for the end.
      const known = client.getQueryData<Job>(queryKey);
      return (await api.get("/v1/jobs/{id}", { path: { id: id ?? "" }, query: known ? { wait: WAIT } : {}, signal })) as Job;
    },
    enabled: id !== undefined,
    refetchInterval: (query) => (query.state.data && FINAL.includes(query.state.data.state) ? false : 250),
  });
}
