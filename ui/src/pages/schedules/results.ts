/** How the last jobs of each schedule ended. Pure. */
import type { Job, State } from "@/api/types";

/** So many are shown of each. */
export const SHOWN = 8;

/** The states of the last jobs by schedule, the oldest first, from a list of which the newest is first. */
export function lastResults(items: readonly Pick<Job, "state" | "schedule">[]): Map<string, State[]> {
  const results = new Map<string, State[]>();
  for (const { state, schedule } of items) {
    if (!schedule) continue;
    const states = results.get(schedule.name) ?? [];
    if (states.length < SHOWN) states.unshift(state);
    results.set(schedule.name, states);
  }
  return results;
}

/** "7 succeeded, 3 dead". */
export function inWords(states: readonly State[]): string {
  const counts = new Map<State, number>();
  for (const state of states) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, count]) => `${count} ${state}`).join(", ");
}
