/** What a tab and the one who holds the stream say to each other. */
import type { Link } from "./connection";

export const TOPICS = ["job", "attempt", "worker", "queue", "schedule", "operation", "counts"] as const;
export type Topic = (typeof TOPICS)[number];

/** Most ids whose changes can be followed at once. */
export const MOST_VISIBLE = 100;

/** What a tab wants to hear. */
export interface Want {
  topics: Topic[];
  /** Jobs on the screen: only these are told of. */
  visible: string[];
}

export type ToHolder =
  /** Each want has a number, so that the tab knows which one the stream covers. */
  | { type: "want"; want: Want; n: number }
  /** The tab is still there. */
  | { type: "here" }
  | { type: "bye" }
  /** The network changed: do not wait for the next try. */
  | { type: "retry"; online: boolean }
  /** The tab has a new access token. */
  | { type: "authenticated" };

export interface Told {
  event: string;
  data: unknown;
}

export type ToTab =
  | { type: "link"; link: Link }
  | { type: "told"; told: Told[] }
  /**
   * Everything of want `n` is told from now on. `already` says that it was before this want came: what is being read now misses
   * nothing. `partial` says that the stream cannot follow all jobs of the want.
   */
  | { type: "covered"; n: number; already: boolean; partial: boolean }
  /** Something was missed: read again. */
  | { type: "gap" }
  /** The server does not know who asks. */
  | { type: "unauthenticated" };

/** Whether a stream that is opened for `all` tells everything of this want. */
export function covers(all: Want, want: Want): boolean {
  // Without ids, jobs are not told of at all.
  const topics = want.visible.length > 0 ? want.topics : want.topics.filter((topic) => topic !== "job" && topic !== "attempt");
  const follows = want.visible.every((id) => all.visible.includes(id));
  return follows && topics.every((topic) => all.topics.includes(topic));
}

/** All that the tabs want, together; the same wants give the same answer in whatever order they come. */
export function together(wants: Iterable<Want>): Want {
  const topics = new Set<Topic>();
  const visible = new Set<string>();
  for (const want of wants) {
    for (const topic of want.topics) topics.add(topic);
    for (const id of want.visible) if (visible.size < MOST_VISIBLE) visible.add(id);
  }
  // Without ids these two would be a flood of every job there is.
  if (visible.size === 0) {
    topics.delete("job");
    topics.delete("attempt");
  }
  return { topics: TOPICS.filter((topic) => topics.has(topic)), visible: [...visible].sort() };
}
