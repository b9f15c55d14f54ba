/** One clock for the whole page: everything that shows how long ago something was ticks together, once a second. */
import { useSyncExternalStore } from "react";

let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

function read(): number {
  // Nobody listened for a while: the time of the last tick is of no use.
  if (timer === undefined) now = Date.now();
  return now;
}

/** The time in milliseconds, renewed every second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, read);
}
