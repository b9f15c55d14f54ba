/** Every page with its address. Pages are loaded when they are first opened. */
import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  retainSearchParams,
} from "@tanstack/react-router";
import { pagePath } from "@/base";
import { SkeletonRows } from "@/design/parts";
import { lazyPage } from "@/shell/lazy";
import { Crash, NotFound } from "@/shell/Refused";
import { Shell } from "@/shell/Shell";

interface Context {
  client: QueryClient;
}

type Raw = Record<string, unknown>;
/** A parameter of the address, if it is there. */
const text = (raw: Raw, name: string): string | undefined => {
  const value = raw[name];
  return typeof value === "string" && value !== "" ? value : undefined;
};

const root = createRootRouteWithContext<Context>()({
  component: Shell,
  notFoundComponent: NotFound,
  /** On every page: the time range, and what the inspector shows. */
  validateSearch: (raw: Raw): { range?: string | undefined; inspect?: string | undefined } => ({
    range: text(raw, "range"),
    inspect: text(raw, "inspect"),
  }),
  search: { middlewares: [retainSearchParams(["range"])] },
});

const overview = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: lazyPage(() => import("@/pages/overview")),
});

const jobs = createRoute({
  getParentRoute: () => root,
  path: "/jobs",
  /** The filter. */
  validateSearch: (raw: Raw): { q?: string | undefined } => ({ q: text(raw, "q") }),
  component: lazyPage(() => import("@/pages/jobs")),
});

const job = createRoute({
  getParentRoute: () => root,
  path: "/jobs/$id",
  validateSearch: (raw: Raw): { tab?: string | undefined } => ({ tab: text(raw, "tab") }),
  component: lazyPage(() => import("@/pages/job")),
});

const failures = createRoute({
  getParentRoute: () => root,
  path: "/failures",
  validateSearch: (raw: Raw): { tab?: string | undefined } => ({ tab: text(raw, "tab") }),
  component: lazyPage(() => import("@/pages/failures")),
});

const failure = createRoute({
  getParentRoute: () => root,
  path: "/failures/$fingerprint",
  component: lazyPage(() => import("@/pages/failure")),
});

const queues = createRoute({
  getParentRoute: () => root,
  path: "/queues",
  component: lazyPage(() => import("@/pages/queues")),
});

const queue = createRoute({
  getParentRoute: () => root,
  path: "/queues/$queue",
  component: lazyPage(() => import("@/pages/queue")),
});

const schedules = createRoute({
  getParentRoute: () => root,
  path: "/schedules",
  component: lazyPage(() => import("@/pages/schedules")),
});

const schedule = createRoute({
  getParentRoute: () => root,
  path: "/schedules/$name",
  component: lazyPage(() => import("@/pages/schedule")),
});

const workers = createRoute({
  getParentRoute: () => root,
  path: "/workers",
  component: lazyPage(() => import("@/pages/workers")),
});

const worker = createRoute({
  getParentRoute: () => root,
  path: "/workers/$id",
  component: lazyPage(() => import("@/pages/worker")),
});

const operations = createRoute({
  getParentRoute: () => root,
  path: "/operations",
  validateSearch: (raw: Raw): { tab?: string | undefined } => ({ tab: text(raw, "tab") }),
  component: lazyPage(() => import("@/pages/operations")),
});

const operation = createRoute({
  getParentRoute: () => root,
  path: "/operations/$id",
  component: lazyPage(() => import("@/pages/operation")),
});

const kinds = createRoute({
  getParentRoute: () => root,
  path: "/kinds",
  component: lazyPage(() => import("@/pages/kinds")),
});

const analytics = createRoute({
  getParentRoute: () => root,
  path: "/analytics",
  validateSearch: (raw: Raw): { kind?: string | undefined; queue?: string | undefined } => ({
    kind: text(raw, "kind"),
    queue: text(raw, "queue"),
  }),
  component: lazyPage(() => import("@/pages/analytics")),
});

const submit = createRoute({
  getParentRoute: () => root,
  path: "/submit",
  /** What the form begins with: a kind, a queue, or a job that is to be copied. */
  validateSearch: (
    raw: Raw,
  ): { kind?: string | undefined; queue?: string | undefined; from?: string | undefined } => ({
    kind: text(raw, "kind"),
    queue: text(raw, "queue"),
    from: text(raw, "from"),
  }),
  component: lazyPage(() => import("@/pages/submit")),
});

const system = createRoute({
  getParentRoute: () => root,
  path: "/system",
  validateSearch: (raw: Raw): { tab?: string | undefined } => ({ tab: text(raw, "tab") }),
  component: lazyPage(() => import("@/pages/system")),
});

const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  /** Where to go afterwards. */
  validateSearch: (raw: Raw): { next?: string | undefined } => ({ next: text(raw, "next") }),
  component: lazyPage(() => import("@/pages/login")),
});

const tree = root.addChildren([
  overview,
  jobs,
  job,
  failures,
  failure,
  queues,
  queue,
  schedules,
  schedule,
  workers,
  worker,
  operations,
  operation,
  kinds,
  analytics,
  submit,
  system,
  login,
]);

/** Parameters of the address are plain text, as people would write them: no JSON, no quotes. */
export function parseSearch(search: string): Raw {
  return Object.fromEntries(new URLSearchParams(search));
}

export function stringifySearch(search: Raw): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (value !== undefined && value !== null && value !== "") parameters.set(name, String(value));
  }
  const all = parameters.toString();
  return all ? `?${all}` : "";
}

export function makeRouter(client: QueryClient) {
  return createRouter({
    routeTree: tree,
    basepath: pagePath,
    context: { client },
    parseSearch,
    stringifySearch,
    defaultPreload: "intent",
    defaultPreloadStaleTime: 0,
    defaultErrorComponent: Crash,
    defaultPendingComponent: () => <SkeletonRows />,
    // The page scrolls inside the shell: Back returns to where one was.
    scrollRestoration: true,
    scrollToTopSelectors: ["#main"],
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
