/** Keys of the whole page. A key that is typed into something belongs to that. */
import { useEffect, useRef } from "react";
import { settingsNow } from "@/settings/settings";

export type KeyMap = Record<string, (event: KeyboardEvent) => void>;

/** After `g`, the next key must come within this time. */
const CHORD_MS = 1200;

/** Whether somebody types, or a dialog or menu has the keyboard. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest('[role="dialog"], [role="menu"], [role="listbox"]')) return true;
  const field = target.closest("input, textarea, select");
  return field !== null && !(field instanceof HTMLInputElement && ["checkbox", "radio"].includes(field.type));
}

/** Keys such as `t`, `?`, and chords such as `g j`, unless they are turned off. The map may change at every render. */
export function useKeys(keys: KeyMap): void {
  const latest = useRef(keys);
  useEffect(() => {
    latest.current = keys;
  });
  useEffect(() => {
    let first: { key: string; at: number } | undefined;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event)) return;
      if (!settingsNow().singleKeys) return;
      const chord = first && event.timeStamp - first.at < CHORD_MS ? `${first.key} ${event.key}` : undefined;
      first = undefined;
      const handler = (chord && latest.current[chord]) || latest.current[event.key];
      if (handler) {
        event.preventDefault();
        handler(event);
      } else if (Object.keys(latest.current).some((key) => key.startsWith(`${event.key} `))) {
        first = { key: event.key, at: event.timeStamp };
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}

export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
export const MOD = isMac ? "⌘" : "Ctrl";
