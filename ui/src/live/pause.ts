/**
 * Whether somebody has paused the page.
 *
 * A paused page stays as it is: nothing is read by the clock, no range moves on. What somebody opens is read all the same, and told at
 * once if it cannot be.
 */
import { focusManager } from "@tanstack/react-query";
import { useState, useSyncExternalStore } from "react";

let paused = false;
const listeners = new Set<() => void>();

export function setPaused(to: boolean): void {
  paused = to;
  // Reading by the clock stops where nobody looks.
  focusManager.setFocused(to ? false : undefined);
  for (const listener of listeners) listener();
}

export const isPaused = (): boolean => paused;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const usePaused = (): boolean => useSyncExternalStore(subscribe, isPaused);

/** A value that flows, and stands still while the page is paused. */
export function useHeld<T>(value: T): T {
  const still = usePaused();
  const [held, setHeld] = useState(value);
  if (!still && held !== value) setHeld(value);
  return still ? held : value;
}
