/** Live events for components. */
import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useRef, useSyncExternalStore } from "react";
import { useNow } from "@/design/clock";
import { type Chip, chipOf } from "./connection";
import type { Hub } from "./hub";
import type { Told, Topic } from "./protocol";

export const HubContext = createContext<Hub | null>(null);

export function useHub(): Hub {
  const hub = useContext(HubContext);
  if (!hub) throw new Error("there are no live events outside the shell");
  return hub;
}

/** Listens while the component is there. `onTold` gets batches, at most four a second; it may change at every render. */
export function useLive(topics: readonly Topic[], onTold?: (told: Told[]) => void, visible?: readonly string[]): void {
  const hub = useHub();
  const latest = useRef(onTold);
  useEffect(() => {
    latest.current = onTold;
  });
  const topicKey = topics.join(",");
  const visibleKey = visible?.join(",") ?? "";
  useEffect(
    () =>
      hub.listen({
        topics: topicKey.split(",").filter(Boolean) as Topic[],
        visible: visibleKey.split(",").filter(Boolean),
        onTold: (told) => latest.current?.(told),
      }),
    [hub, topicKey, visibleKey],
  );
}

/** Calls back when something was missed, for what is not simply read again. It may change at every render. */
export function useReread(onReread: () => void): void {
  const hub = useHub();
  const latest = useRef(onReread);
  useEffect(() => {
    latest.current = onReread;
  });
  useEffect(() => hub.onReread(() => latest.current()), [hub]);
}

/** Makes these queries stale whenever one of the topics is told, at most once in `every` milliseconds. */
export function useLiveQueries(topics: readonly Topic[], keys: readonly QueryKey[], visible?: readonly string[], every = 2000): void {
  const client = useQueryClient();
  const hub = useHub();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const latest = useRef(keys);
  useEffect(() => {
    latest.current = keys;
  });
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  useLive(
    topics,
    () => {
      timer.current ??= setTimeout(() => {
        timer.current = undefined;
        // Somebody may have paused meanwhile; whoever goes on reads everything again.
        if (hub.link.paused) return;
        for (const queryKey of latest.current) void client.invalidateQueries({ queryKey });
      }, every);
    },
    visible,
  );
}

/** What the connection chip shows now. */
export function useConnection(): Chip {
  const hub = useHub();
  const link = useSyncExternalStore(hub.subscribe, () => hub.link);
  return chipOf(link, useNow());
}
