/** Gathers what comes in and hands it on in a frame of the screen, four times a second at the most. */

/** React commits at most this often for what is told. */
export const COMMIT_EVERY_MS = 250;
/** What waits is bounded: more than this at once is a flood, and reading again is cheaper. */
export const MOST_WAITING = 2000;

export interface Batch<T> {
  push(items: readonly T[]): void;
  clear(): void;
}

export function batched<T>(
  apply: (items: T[]) => void,
  overflow: () => void,
  now: () => number = () => performance.now(),
  frame: (run: () => void) => void = (run) => requestAnimationFrame(run),
  later: (run: () => void, ms: number) => void = (run, ms) => setTimeout(run, ms),
): Batch<T> {
  let waiting: T[] = [];
  let planned = false;
  let last = Number.NEGATIVE_INFINITY;
  const flush = () => {
    planned = false;
    last = now();
    const items = waiting;
    waiting = [];
    if (items.length > 0) apply(items);
  };
  return {
    push(items) {
      if (waiting.length + items.length > MOST_WAITING) {
        waiting = [];
        overflow();
        return;
      }
      waiting.push(...items);
      if (planned) return;
      planned = true;
      later(() => frame(flush), Math.max(0, last + COMMIT_EVERY_MS - now()));
    },
    clear() {
      waiting = [];
    },
  };
}
