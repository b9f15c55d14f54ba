// @vitest-environment jsdom
import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { chipOf } from "./connection";
import { Hub } from "./hub";

/** The server's answer to the next stream; it hangs until it is given. */
let open: (() => void) | undefined;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("SharedWorker", undefined);
  vi.stubGlobal("requestAnimationFrame", (run: () => void) => setTimeout(run, 0));
  vi.stubGlobal("fetch", () => new Promise((answer) => (open = () => answer(new Response(new ReadableStream(), { status: 200 })))));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const settle = () => vi.advanceTimersByTimeAsync(300);
const chip = (hub: Hub) => chipOf(hub.link, Date.now()).state;

it("reads again what was read before the stream told of it, and is live only then", async () => {
  const hub = new Hub(new QueryClient());
  let state = "running";
  let shown = state;
  hub.listen({ topics: ["job"], visible: ["job_1"], catchUp: async () => void (shown = state) });
  await settle();
  // It ends after it was read and before the stream is open: nothing tells of it.
  state = "succeeded";
  expect(chip(hub)).toBe("updating");
  open?.();
  await settle();
  expect(shown).toBe("succeeded");
  expect(chip(hub)).toBe("live");
});

it("is not live while it reads again", async () => {
  const hub = new Hub(new QueryClient());
  let done: (() => void) | undefined;
  hub.listen({ topics: ["queue"], catchUp: () => new Promise<void>((go) => (done = go)) });
  await settle();
  open?.();
  await settle();
  expect(chip(hub)).toBe("updating");
  done?.();
  await settle();
  expect(chip(hub)).toBe("live");
});

it("reads again once more after a gap that came while it had just read", async () => {
  const client = new QueryClient();
  const hub = new Hub(client);
  let reads = 0;
  const end = new QueryObserver(client, { queryKey: ["queues"], queryFn: async () => (reads += 1) }).subscribe(() => {});
  await settle();
  hub.reread();
  await settle();
  const before = reads;
  hub.reread();
  await vi.advanceTimersByTimeAsync(3000);
  expect(reads).toBe(before + 1);
  end();
});

it("does a first read over that began before the stream told of it", async () => {
  const client = new QueryClient();
  const { readAgain } = await import("./hub");
  const answers: ((value: number) => void)[] = [];
  const observer = new QueryObserver(client, { queryKey: ["queues"], queryFn: () => new Promise<number>((go) => answers.push(go)) });
  const end = observer.subscribe(() => {});
  await settle();
  const read = readAgain(client, { queryKey: ["queues"] });
  answers[0]?.(1);
  await settle();
  answers[1]?.(2);
  await read;
  expect(client.getQueryData(["queues"])).toBe(2);
  end();
});
