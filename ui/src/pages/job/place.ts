/** The place of a job in line, in words. */
import type { Explanation } from "@/api/types";
import { formatExact } from "@/design/format";

type Position = NonNullable<Explanation["position"]>;

/** Queues that are named in the sentence. */
const NAMED = 3;

export function placeInWords({ ahead, exact, other_queues: others = [] }: Position): string {
  const own = `${exact ? "" : "At least "}${formatExact(ahead)} ahead of it in its queue`;
  if (others.length === 0) return own;
  const all = others.reduce((sum, other) => sum + other.jobs, 0);
  const named = others.filter((other) => other.queue).slice(0, NAMED).map((other) => `${other.queue} ${formatExact(other.jobs)}`);
  const names = named.length === 0 ? "" : ` (${[...named, ...(others.length > named.length ? ["…"] : [])].join(", ")})`;
  return `${own}, ${formatExact(all)} of other queues ${all === 1 ? "starts" : "start"} first${names}`;
}
