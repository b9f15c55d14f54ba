import { cleanup } from "@testing-library/react";
import { afterEach } from "vitest";

if (typeof document !== "undefined") {
  afterEach(cleanup);
  // jsdom has neither; components only ask for them.
  globalThis.matchMedia ??= ((query: string) => ({
    matches: false,
    media: query,
    addEventListener: () => {},
    removeEventListener: () => {},
  })) as unknown as typeof matchMedia;
  globalThis.ResizeObserver ??= class {
    observe() {}
    unobserve() {}
    disconnect() {}
  } as unknown as typeof ResizeObserver;
}
