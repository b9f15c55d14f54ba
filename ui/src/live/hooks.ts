/** Live events for components. */
import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useRef, useSyncExternalStore } from "react";
import { useNow } from "@/design/clock";
import { type Chip, chipOf } from "./connection";
import { type Hub, LAG_MS, readAgain } from "./hub";
import type { Told, Topic } from "./protocol";

export const HubContext = createContext<Hub | null>(null);

export function useHub(): Hub {
  const hub = useContext(HubContext);
  if (!hub) throw new Error("there are no live events outside the shell");
  return hub;
}

/**
 * Listens while the component is there. `onTold` gets batches, at most four a second. `catchUp` reads again what was read before the
 * stream told of it (see `Listener`). Both may change at every render.
 */
export function useLive(topics: readonly Topic[], onTold: (told: Told[]) => void, visible: readonly string[] | undefined, catchUp: (already: boolean) => Promise<unknown>): void {
  const hub = useHub();
  const latest = useRef({ onTold, catchUp });
  useEffect(() => {
    latest.current = { onTold, catchUp };
  });
  const topicKey = topics.join(",");
  const visibleKey = visible?.join(",") ?? "";
  useEffect(
    () =>
      hub.listen({
        topics: topicKey.split(",").filter(Boolean) as Topic[],
        visible: visibleKey.split(",").filter(Boolean),
        onTold: (told) => latest.current.onTold(told),
        catchUp: (already) => latest.current.catchUp(already),
      }),
    [hub, topicKey, visibleKey],
  );
}

/** Calls back when something was missed, for what is not simply read again. It may change at every render. */
export function useReread(onReread: () => Promise<unknown>): void {
  const hub = useHub();
  const latest = useRef(onReread);
  useEffect(() => {
    latest.current = onReread;
  });
  useEffect(() => hub.onReread(() => latest.current()), [hub]);
}

/** Reading takes at most a fourth of the time: what is slow to read is read less often. */
const SHARE = 3;

/** Reads these queries again whenever one of the topics is told, at most once in `every` milliseconds. */
export function useLiveQueries(topics: readonly Topic[], keys: readonly QueryKey[], visible?: readonly string[], every = 750): void {
  const client = useQueryClient();
  const hub = useHub();
  /** Ends the wait for the next read, if there is one. */
  const wake = useRef<(() => void) | undefined>(undefined);
  const here = useRef(true);
  const took = useRef(0);
  const latest = useRef(keys);
  useEffect(() => {
    latest.current = keys;
  });
  useEffect(() => {
    here.current = true;
    return () => {
      here.current = false;
      wake.current?.();
    };
  }, []);
  const read = async (already: boolean) => {
    const began = performance.now();
    await Promise.all(latest.current.map((queryKey) => readAgain(client, { queryKey }, already)));
    took.current = performance.now() - began;
  };
  useLive(
    topics,
    () => {
      if (wake.current) return;
      const wait = new Promise<void>((go) => {
        wake.current = go;
        setTimeout(go, Math.max(every, took.current * SHARE));
      });
      const then = async () => {
        await wait;
        wake.current = undefined;
        // Somebody may have paused or left meanwhile; whoever goes on reads everything again.
        if (here.current && !hub.link.paused) await read(false);
      };
      void hub.owe(then, LAG_MS);
    },
    visible,
    read,
  );
}

/** What the connection chip shows now. */
export function useConnection(): Chip {
  const hub = useHub();
  const link = useSyncExternalStore(hub.subscribe, () => hub.link);
  return chipOf(link, useNow());
}
