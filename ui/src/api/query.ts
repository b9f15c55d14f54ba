/** How answers are kept and asked for again. */
import { QueryClient } from "@tanstack/react-query";
import { isPaused } from "@/live/pause";
import { Problem } from "./problem";

/** Tries after the first one. */
const RETRIES = 3;
const LONGEST_WAIT_MS = 15_000;

/** Only what may succeed later is tried again: never a refusal, which stays one. */
export function shouldRetry(failures: number, thrown: unknown): boolean {
  const problem = Problem.from(thrown);
  return failures < RETRIES && problem.retryable && problem.status !== 401 && problem.status !== 403;
}

/** The server's own wish first, else doubling from half a second. */
export function retryDelay(attempt: number, thrown: unknown): number {
  const wished = Problem.from(thrown).retryAfterMs;
  return Math.min(wished ?? 500 * 2 ** attempt, LONGEST_WAIT_MS);
}

export function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // Live events say when something changed, so time alone makes nothing stale for a while.
        staleTime: 15_000,
        gcTime: 5 * 60_000,
        // On a paused page a second try would wait until it goes on.
        retry: (failures, thrown) => !isPaused() && shouldRetry(failures, thrown),
        retryDelay,
        refetchOnWindowFocus: false,
        // The stream knows better than the browser whether the server can be reached.
        networkMode: "always",
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });
}
