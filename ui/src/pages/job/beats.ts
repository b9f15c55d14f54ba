/** When the worker of a running job was heard, as far as this page has seen it. Pure. */

/** How far back beats are kept. */
export const KEPT_MS = 60_000;
/** The same beat, told twice, differs by the way it took. */
const SAME_MS = 250;

/** With one more beat, if it is one; without those that are too old. The oldest comes first. */
export function withBeat(beats: readonly number[], heardAt: number, now: number): readonly number[] {
  const kept = beats.filter((at) => now - at < KEPT_MS);
  const last = kept.at(-1);
  const isNew = last === undefined || heardAt - last > SAME_MS;
  if (!isNew && kept.length === beats.length) return beats;
  return isNew ? [...kept, heardAt] : kept;
}
