/** What a tab is called: the thing it shows first, so that many of them can be told apart. */
import { useLocation } from "@tanstack/react-router";
import { useEffect } from "react";
import { shortId } from "@/design/format";
import { announce } from "./announce";
import { PLACES } from "./nav";

/** A filter may be long; the rest of it is in the address. */
const MOST_LETTERS = 60;

/** Where a path leads, in words: the place, and the thing in it. */
export function namesOf(pathname: string): { place: string; thing: string | undefined } {
  const [first = "", second] = pathname.split("/").filter(Boolean);
  const place = PLACES.find((each) => each.to === `/${first}`)?.label ?? (first === "login" ? "Log in" : "Ganger");
  return { place, thing: second === undefined ? undefined : nameOf(second) };
}

/** A part of a path as people read it. What is not properly encoded is read as it is. */
function nameOf(segment: string): string {
  if (/^(job|op|wrk)_/.test(segment)) return shortId(segment);
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** `01J9…7QK5 · Jobs · Ganger`, `state:dead · Jobs · Ganger production`. */
export function titleOf(pathname: string, filter: string | undefined, environment: string | undefined): string {
  const { place, thing } = namesOf(pathname);
  const what = thing ?? (filter && filter.length > MOST_LETTERS ? `${filter.slice(0, MOST_LETTERS)}…` : filter);
  const product = environment ? `Ganger ${environment}` : "Ganger";
  return [what, place === "Ganger" ? undefined : place, product].filter(Boolean).join(" · ");
}

/** Names the tab, and says aloud which page has been opened. */
export function useTitle(environment: string | undefined): void {
  const { pathname, search } = useLocation();
  const filter = pathname === "/jobs" ? (search as { q?: string }).q : undefined;
  useEffect(() => {
    document.title = titleOf(pathname, filter, environment);
  }, [pathname, filter, environment]);
  useEffect(() => {
    const { place, thing } = namesOf(pathname);
    announce(thing ? `${place}, ${thing}` : place);
  }, [pathname]);
}
