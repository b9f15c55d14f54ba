/** What the palette can do: places, ids, verbs with their command line, saved views, recent places. */
import { useSyncExternalStore, useEffect, useRef } from "react";

export interface Command {
  id: string;
  group: "Go to" | "Do" | "Saved views" | "Recent";
  label: string;
  /** The same on the command line. */
  cli?: string;
  run: () => void;
}

/** Commands of the page that is open. */
let pageCommands: readonly Command[] = [];
const listeners = new Set<() => void>();

function set(commands: readonly Command[]): void {
  pageCommands = commands;
  for (const listener of listeners) listener();
}

/** Adds verbs to the palette while the page is open. Give a list that changes only when its content does. */
export function useCommands(commands: readonly Command[]): void {
  const mine = useRef<readonly Command[]>([]);
  useEffect(() => {
    set([...pageCommands.filter((command) => !mine.current.includes(command)), ...commands]);
    mine.current = commands;
    return () => set(pageCommands.filter((command) => !commands.includes(command)));
  }, [commands]);
}

export function usePageCommands(): readonly Command[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => pageCommands,
  );
}

/** Where a pasted id leads, if it is one. */
export function placeOfId(text: string): string | undefined {
  const id = text.trim();
  if (/^job_[0-9A-HJKMNP-TV-Z]{26}$/i.test(id)) return `/jobs/${id}`;
  if (/^op_[0-9A-HJKMNP-TV-Z]{26}$/i.test(id)) return `/operations/${id}`;
  if (/^wrk_[0-9A-HJKMNP-TV-Z]{26}$/i.test(id)) return `/workers/${id}`;
  // A job's id is a UUID underneath.
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return `/jobs/${id}`;
  return undefined;
}

/** How well a label matches what was typed: every word must be in it, earlier is better. Lower is better; undefined is not at all. */
export function matchScore(label: string, typed: string): number | undefined {
  const text = label.toLowerCase();
  let score = 0;
  for (const word of typed.toLowerCase().split(/\s+/).filter(Boolean)) {
    const at = text.indexOf(word);
    if (at < 0) return undefined;
    // The beginning of a word counts for more than its middle.
    score += at === 0 || text[at - 1] === " " ? at : at + 50;
  }
  return score;
}
