/** Places that were looked at lately, for the palette. Ids and names only. */

export interface Recent {
  path: string;
  label: string;
}

const KEY = "ganger.recent";
const MOST = 12;

export function readRecent(): Recent[] {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? "[]") as unknown;
    if (!Array.isArray(stored)) return [];
    return stored.filter((one): one is Recent => typeof one?.path === "string" && typeof one?.label === "string");
  } catch {
    return [];
  }
}

export function addRecent(recent: Recent): void {
  const others = readRecent().filter((each) => each.path !== recent.path);
  try {
    localStorage.setItem(KEY, JSON.stringify([recent, ...others].slice(0, MOST)));
  } catch {
    // Without storage there are no recent places.
  }
}
