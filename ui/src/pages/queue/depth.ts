/**
 * How many jobs a queue held over time, reckoned backwards from how many it holds now: what came is taken away, what ended is put
 * back. Pure.
 *
 * What came and what ended is counted exactly. A replay brings a job back without its coming being counted, so before replays a
 * queue seems to have held that many more; it never seems to have held less than nothing.
 */
interface Counted {
  at: string;
  count: number;
}

/** How many there were when each step began. Both lists have the same steps, the last of which reaches to now. */
export function depthOf(now: number, came: readonly Counted[], ended: readonly Counted[]): number[] {
  const cameAt = new Map(came.map((point) => [point.at, point.count]));
  const depths: number[] = [];
  let depth = now;
  for (const point of ended.toReversed()) {
    depth = Math.max(0, depth - (cameAt.get(point.at) ?? 0) + point.count);
    depths.push(depth);
  }
  return depths.reverse();
}
