// @vitest-environment jsdom
import { afterEach, expect, it, vi } from "vitest";
import { api, onUnauthenticated, urlOf } from "./client";
import { Problem } from "./problem";
import { may } from "./queries";
import { retryDelay, shouldRetry } from "./query";

const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": status < 400 ? "application/json" : "application/problem+json", ...headers },
  });

function answers(...responses: (Response | Error)[]) {
  const fetch = vi.fn(async (_url: string, _init?: RequestInit) => {
    const next = responses.shift();
    if (!next) throw new Error("nobody expected this request");
    if (next instanceof Error) throw next;
    return next;
  });
  vi.stubGlobal("fetch", fetch);
  return fetch;
}

afterEach(() => vi.unstubAllGlobals());

const caught = async (promise: Promise<unknown>): Promise<Problem> => {
  try {
    await promise;
  } catch (thrown) {
    return thrown as Problem;
  }
  throw new Error("it was not refused");
};

it("fills paths and leaves out what was not given", () => {
  const url = urlOf("/v1/queues/{queue}/keys/{key}:close", { queue: "a/b", key: "ü" }, { q: "", limit: 5, state: ["dead", "queued"], cursor: undefined });
  expect(new URL(url).pathname).toBe("/v1/queues/a%2Fb/keys/%C3%BC:close");
  expect(new URL(url).search).toBe("?limit=5&state=dead%2Cqueued");
});

it("throws a refusal as the server says it", async () => {
  answers(json(403, { status: 403, code: "forbidden", title: "Forbidden", detail: "it needs the permission `purge`", request_id: "r1", hint: "ask" }));
  const problem = await caught(api.get("/v1/stats"));
  expect(problem).toBeInstanceOf(Problem);
  expect([problem.code, problem.hint, problem.requestId, problem.permission]).toEqual(["forbidden", "ask", "r1", "purge"]);
  expect(shouldRetry(0, problem)).toBe(false);
});

it("tells a proxy's page and a lost network apart from the server's word", async () => {
  answers(new Response("<h1>Bad gateway</h1>", { status: 502, headers: { "content-type": "text/html" } }), new TypeError("failed"));
  const proxy = await caught(api.get("/v1/stats"));
  expect([proxy.code, proxy.retryable]).toEqual(["http_502", true]);
  const network = await caught(api.get("/v1/stats"));
  expect([network.code, shouldRetry(0, network), shouldRetry(3, network)]).toEqual(["unreachable", true, false]);
});

it("waits as long as the server wishes", async () => {
  answers(json(429, { status: 429, code: "rate_limited", retryable: true }, { "retry-after": "7" }));
  const problem = await caught(api.get("/v1/stats"));
  expect([retryDelay(0, problem), retryDelay(2, new Error("x"))]).toEqual([7000, 2000]);
});

it("gets one new access token for many requests, and asks again", async () => {
  const fetch = vi.fn(async (url: string) => {
    const refreshed = fetch.mock.calls.some(([each]) => each.includes("auth:refresh"));
    if (url.includes("auth:refresh")) return json(200, {});
    return refreshed ? json(200, { term: 1 }) : json(401, { status: 401, code: "unauthenticated" });
  });
  vi.stubGlobal("fetch", fetch);
  const all = await Promise.all([api.get("/v1/stats"), api.get("/v1/stats")]);
  expect(all.map((stats) => stats.term)).toEqual([1, 1]);
  expect(fetch.mock.calls.filter(([url]) => url.includes("auth:refresh")).length).toBe(1);
});

it("says that nobody is logged in when a new token cannot be had", async () => {
  const login = vi.fn();
  onUnauthenticated(login);
  answers(json(401, { status: 401, code: "unauthenticated" }), json(401, { status: 401, code: "unauthenticated" }));
  expect((await caught(api.get("/v1/stats"))).status).toBe(401);
  expect(login).toHaveBeenCalledOnce();
});

it("sends a text as it was typed", async () => {
  const fetch = answers(json(201, {}));
  await api.post("/v1/jobs", { body: '{"kind":"echo","payload":9007199254740993}' as never });
  expect(fetch.mock.calls[0]?.[1]?.body).toBe('{"kind":"echo","payload":9007199254740993}');
});

it("allows what the server allows, within the caller's queues", () => {
  const who = { who: "user:ada", permissions: ["read", "cancel"], queues: ["mail-*", "gpu"], authentication: true };
  expect(may(who, "cancel")).toBe(true);
  expect(may(who, "purge")).toBe(false);
  expect([may(who, "cancel", "mail-1"), may(who, "cancel", "gpu"), may(who, "cancel", "gpu2"), may(undefined, "read")]).toEqual([true, true, false, false]);
});
