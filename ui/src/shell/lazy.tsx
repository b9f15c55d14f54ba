/**
 * Pages that are loaded when they are first needed, and before that when the browser has nothing to do.
 *
 * A page whose file cannot be loaded fails inside the shell and can be tried again. The router's own way reloads the whole document
 * instead, and without a server that leaves the browser's error page.
 */
import type { ComponentType, ReactNode } from "react";

interface Loadable {
  preload: () => Promise<void>;
  forget: () => void;
}

const all: Loadable[] = [];

/** A module's own type is not asked for: pages name the router in theirs, and the router names the pages. */
export function lazyPage<P extends object = object>(load: () => Promise<unknown>): ((props: P) => ReactNode) & { preload: () => Promise<void> } {
  let Page: ComponentType<P> | undefined;
  let failed: Error | undefined;
  let loading: Promise<void> | undefined;
  const preload = async (): Promise<void> => {
    if (Page) return;
    loading ??= load()
      .then(
        (module) => {
          Page = (module as { default: ComponentType<P> }).default;
          failed = undefined;
        },
        (cause: unknown) => {
          failed = new Error("This page could not be loaded from the server. Try again once it can be reached.", { cause });
        },
      )
      .finally(() => (loading = undefined));
    await loading;
  };
  const Lazy = (props: P) => {
    if (Page) return <Page {...props} />;
    if (failed) throw failed;
    throw preload();
  };
  all.push({ preload, forget: () => (failed = undefined) });
  return Object.assign(Lazy, { preload });
}

/** What failed to load is loaded again when it is next drawn. */
export function forgetFailures(): void {
  for (const { forget } of all) forget();
}

/** Loads every page, one after the other, while nothing else is to be done. */
export function preloadWhenIdle(idle: (run: () => void) => void = whenIdle): void {
  const rest = [...all];
  const next = () => {
    const page = rest.shift();
    if (!page) return;
    void page.preload().then(() => {
      // Nobody has asked for it: a failure is told when somebody does.
      page.forget();
      idle(next);
    });
  };
  idle(next);
}

function whenIdle(run: () => void): void {
  if (typeof requestIdleCallback === "function") requestIdleCallback(run, { timeout: 5000 });
  else setTimeout(run, 1000);
}
