/** What somebody likes, kept in the browser. Never anything that belongs to jobs. */
import { useSyncExternalStore } from "react";

export interface Settings {
  theme: "system" | "dark" | "light";
  density: "compact" | "default" | "comfortable";
  /** `local`, `UTC`, or a name of the IANA database. */
  zone: string;
  /** Moments are shown as they are, not as how long ago. */
  absoluteTimes: boolean;
  /** Keys without Ctrl or ⌘ do something anywhere. Whoever speaks to his machine, or slips, can turn that off (WCAG 2.1.4). */
  singleKeys: boolean;
  railCollapsed: boolean;
  inspectorWidth: number;
}

const KEY = "ganger.settings";
const DEFAULTS: Settings = {
  theme: "system",
  density: "default",
  zone: "local",
  absoluteTimes: false,
  singleKeys: true,
  railCollapsed: false,
  inspectorWidth: 560,
};

/** Takes what is stored as far as it makes sense. */
export function readSettings(text: string | null): Settings {
  const settings = { ...DEFAULTS };
  let stored: Partial<Settings>;
  try {
    stored = JSON.parse(text ?? "{}") as Partial<Settings>;
  } catch {
    return settings;
  }
  if (stored === null || typeof stored !== "object") return settings;
  if (["system", "dark", "light"].includes(stored.theme ?? "")) settings.theme = stored.theme ?? "system";
  if (["compact", "default", "comfortable"].includes(stored.density ?? "")) {
    settings.density = stored.density ?? "default";
  }
  if (typeof stored.zone === "string" && isZone(stored.zone)) settings.zone = stored.zone;
  if (typeof stored.absoluteTimes === "boolean") settings.absoluteTimes = stored.absoluteTimes;
  if (typeof stored.singleKeys === "boolean") settings.singleKeys = stored.singleKeys;
  if (typeof stored.railCollapsed === "boolean") settings.railCollapsed = stored.railCollapsed;
  if (typeof stored.inspectorWidth === "number") settings.inspectorWidth = clampInspector(stored.inspectorWidth);
  return settings;
}

function isZone(zone: string): boolean {
  if (zone === "local") return true;
  try {
    Intl.DateTimeFormat("en", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

export function clampInspector(width: number): number {
  return Math.min(720, Math.max(420, Math.round(width)));
}

let current = readSettings(safely(() => localStorage.getItem(KEY)) ?? null);
const listeners = new Set<() => void>();

function safely<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    // A browser that allows no storage still shows the page.
    return undefined;
  }
}

function show(): void {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const { dataset } = document.documentElement;
  dataset["theme"] = current.theme === "system" ? system : current.theme;
  dataset["density"] = current.density;
  for (const listener of listeners) listener();
}

export function changeSettings(change: Partial<Settings>): void {
  current = { ...current, ...change };
  safely(() => localStorage.setItem(KEY, JSON.stringify(current)));
  show();
}

/** Follows the system and other tabs. */
export function followSettings(): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  addEventListener("storage", (event) => {
    if (event.key !== KEY) return;
    current = readSettings(event.newValue);
    show();
  });
  show();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Outside of what is drawn. */
export const settingsNow = (): Settings => current;

export function useSettings(): Settings {
  return useSyncExternalStore(subscribe, () => current);
}

/** The theme that is shown, be it by the system's wish. */
export function useTheme(): "dark" | "light" {
  return useSyncExternalStore(subscribe, () => (document.documentElement.dataset["theme"] === "light" ? "light" : "dark"));
}

export const ROW_HEIGHT = { compact: 28, default: 34, comfortable: 44 } as const;

export function toggleTheme(): void {
  changeSettings({ theme: document.documentElement.dataset["theme"] === "dark" ? "light" : "dark" });
}
