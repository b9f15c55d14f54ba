/** How wide the window is, in the design's steps. */
import { useSyncExternalStore } from "react";

export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const list = matchMedia(query);
      list.addEventListener("change", changed);
      return () => list.removeEventListener("change", changed);
    },
    () => matchMedia(query).matches,
  );
}

/** Rows become cards and the rail a bar at the bottom. */
export const useIsNarrow = () => useMedia("(max-width: 639.98px)");
/** The inspector covers the page. */
export const useIsMedium = () => useMedia("(max-width: 1023.98px)");
/** The inspector stands beside the page. */
export const useIsWide = () => useMedia("(min-width: 1440px)");
