import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { chipOf } from "./connection";
import { Holder, type Port } from "./holder";
import { MOST_VISIBLE, type ToTab } from "./protocol";

interface Asked {
  url: URL;
  headers: Record<string, string>;
  signal: AbortSignal;
  say: (text: string) => void;
  end: () => void;
}

let asked: Asked[] = [];
let refuse: number | undefined;
let hangs = false;

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  refuse = undefined;
  hangs = false;
  vi.stubGlobal("fetch", async (url: string, init: { headers: Record<string, string>; signal: AbortSignal }) => {
    let out: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (out = controller) });
    init.signal.addEventListener("abort", () => out?.error(new Error("aborted")));
    const say = (text: string) => out?.enqueue(new TextEncoder().encode(text));
    asked.push({ url: new URL(url), headers: init.headers, signal: init.signal, say, end: () => out?.close() });
    if (hangs) return new Promise((_, fail) => init.signal.addEventListener("abort", () => fail(new Error("aborted"))));
    if (refuse !== undefined) return new Response("", { status: refuse });
    return new Response(body, { status: 200 });
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const settle = () => vi.advanceTimersByTimeAsync(300);

function tab() {
  const heard: ToTab[] = [];
  const port: Port = { postMessage: (message) => heard.push(message) };
  const link = () => heard.findLast((message) => message.type === "link")?.link;
  // Whether a tab is behind is its own matter.
  return { port, heard, chip: () => chipOf({ ...(link() ?? (undefined as never)), behindSince: undefined }, Date.now()).state };
}

it("holds one stream for all tabs, and tells each of them", async () => {
  const holder = new Holder("http://h/v1/events");
  const [one, two] = [tab(), tab()];
  holder.receive(one.port, { type: "want", n: 1, want: { topics: ["counts"], visible: [] } });
  holder.receive(two.port, { type: "want", n: 1, want: { topics: ["counts", "worker"], visible: [] } });
  await settle();
  expect(asked.filter(({ signal }) => !signal.aborted).length).toBe(1);
  expect(asked.at(-1)?.url.searchParams.get("topics")).toBe("worker,counts");
  asked.at(-1)?.say('event: counts\ndata: {"term":3}\n\n');
  await settle();
  for (const { heard } of [one, two]) {
    expect(heard).toContainEqual({ type: "told", told: [{ event: "counts", data: { term: 3 } }] });
  }
});

it("goes on from where it was when other jobs come on the screen, without being lost", async () => {
  const holder = new Holder("http://h/v1/events");
  const { port, heard, chip } = tab();
  holder.receive(port, { type: "want", n: 1, want: { topics: ["job", "counts"], visible: ["job_1"] } });
  await settle();
  asked[0]?.say("id: 1a-7\nevent: job\ndata: {}\n\n");
  await settle();
  holder.receive(port, { type: "want", n: 1, want: { topics: ["job", "counts"], visible: ["job_2"] } });
  await settle();
  expect(asked.length).toBe(2);
  expect(asked[0]?.signal.aborted).toBe(true);
  expect(asked[1]?.url.searchParams.get("visible")).toBe("job_2");
  expect(asked[1]?.headers["last-event-id"]).toBe("1a-7");
  expect(heard.some((message) => message.type === "link" && message.link.phase === "waiting")).toBe(false);
  expect(chip()).toBe("live");
});

it("answers each want: once the stream tells it, or at once if it does", async () => {
  const holder = new Holder("http://h/v1/events");
  const [one, two] = [tab(), tab()];
  const answers = (each: typeof one) => each.heard.filter((message) => message.type === "covered");
  hangs = true;
  holder.receive(one.port, { type: "want", n: 1, want: { topics: ["job", "counts"], visible: ["job_1", "job_2"] } });
  await settle();
  // The server has not answered: what happens now may not be told.
  expect(answers(one)).toEqual([]);
  hangs = false;
  holder.receive(one.port, { type: "want", n: 2, want: { topics: ["job", "queue", "counts"], visible: ["job_1", "job_2"] } });
  await settle();
  expect(answers(one)).toEqual([{ type: "covered", n: 2, already: false, partial: false }]);
  holder.receive(two.port, { type: "want", n: 1, want: { topics: ["job"], visible: ["job_2"] } });
  expect(answers(two)).toEqual([{ type: "covered", n: 1, already: true, partial: false }]);
  holder.receive(two.port, { type: "want", n: 2, want: { topics: ["job"], visible: ["job_3"] } });
  expect(answers(two).length).toBe(1);
  await settle();
  expect(answers(two).at(-1)).toEqual({ type: "covered", n: 2, already: false, partial: false });
});

it("says which tab shows more jobs than a stream can follow", async () => {
  const holder = new Holder("http://h/v1/events");
  const [one, two] = [tab(), tab()];
  const ids = (from: number) => Array.from({ length: MOST_VISIBLE }, (_, n) => `job_${from + n}`);
  holder.receive(one.port, { type: "want", n: 1, want: { topics: ["job"], visible: ids(0) } });
  holder.receive(two.port, { type: "want", n: 1, want: { topics: ["job"], visible: ids(1) } });
  await settle();
  expect(one.heard).toContainEqual({ type: "covered", n: 1, already: false, partial: false });
  expect(two.heard).toContainEqual({ type: "covered", n: 1, already: false, partial: true });
});

it("has everything read again if the stream is opened anew without a place to go on from", async () => {
  const holder = new Holder("http://h/v1/events");
  const { port, heard } = tab();
  holder.receive(port, { type: "want", n: 1, want: { topics: ["counts"], visible: [] } });
  await settle();
  holder.receive(port, { type: "want", n: 2, want: { topics: ["counts", "queue"], visible: [] } });
  await settle();
  expect(heard).toContainEqual({ type: "gap" });
});

it("has a place to go on from as soon as it is open", async () => {
  const holder = new Holder("http://h/v1/events");
  const { port, heard } = tab();
  holder.receive(port, { type: "want", n: 1, want: { topics: ["counts"], visible: [] } });
  await settle();
  asked[0]?.say("id: 1a-7\nevent: open\ndata: {}\n\n");
  await settle();
  holder.receive(port, { type: "want", n: 2, want: { topics: ["counts", "queue"], visible: [] } });
  await settle();
  expect(asked[1]?.headers["last-event-id"]).toBe("1a-7");
  expect(heard.some((message) => message.type === "gap" || message.type === "told")).toBe(false);
});

it("comes back after a loss, and has everything read again if it had no place to go on from", async () => {
  const holder = new Holder("http://h/v1/events");
  const { port, heard, chip } = tab();
  holder.receive(port, { type: "want", n: 1, want: { topics: ["counts"], visible: [] } });
  await settle();
  asked[0]?.end();
  await settle();
  expect(chip()).toBe("reconnecting");
  await vi.advanceTimersByTimeAsync(3000);
  expect(asked.length).toBe(2);
  expect(chip()).toBe("live");
  expect(heard).toContainEqual({ type: "gap" });
});

it("does without narrowing where the server does not know it, at once and without a flood", async () => {
  const holder = new Holder("http://h/v1/events");
  const { port, chip } = tab();
  refuse = 400;
  holder.receive(port, { type: "want", n: 1, want: { topics: ["job", "counts"], visible: ["job_1"] } });
  await vi.advanceTimersByTimeAsync(0);
  refuse = undefined;
  await settle();
  expect(asked.length).toBe(2);
  expect(asked[1]?.url.search).toBe("?topics=counts");
  expect(chip()).toBe("live");
});

it("closes a connection that has been silent for too long", async () => {
  const holder = new Holder("http://h/v1/events");
  const { port } = tab();
  holder.receive(port, { type: "want", n: 1, want: { topics: ["counts"], visible: [] } });
  await settle();
  for (let second = 0; second < 60; second += 10) {
    holder.receive(port, { type: "here" });
    await vi.advanceTimersByTimeAsync(10_000);
  }
  expect(asked[0]?.signal.aborted).toBe(true);
  expect(asked.length).toBe(2);
});

it("forgets tabs that went without a word, and then listens to nothing", async () => {
  const holder = new Holder("http://h/v1/events");
  const { port } = tab();
  holder.receive(port, { type: "want", n: 1, want: { topics: ["counts"], visible: [] } });
  await settle();
  asked[0]?.say(": alive\n\n");
  await vi.advanceTimersByTimeAsync(200_000);
  const before = asked.length;
  await vi.advanceTimersByTimeAsync(200_000);
  expect(asked.length).toBe(before);
  expect(asked.every(({ signal }) => signal.aborted)).toBe(true);
});

it("gives up a try that is never answered, and is offline after three of them", async () => {
  hangs = true;
  const holder = new Holder("http://h/v1/events");
  const { port, chip } = tab();
  holder.receive(port, { type: "want", n: 1, want: { topics: ["counts"], visible: [] } });
  await settle();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(asked[0]?.signal.aborted).toBe(true);
  expect(chip()).toBe("reconnecting");
  await vi.advanceTimersByTimeAsync(80_000);
  expect(asked.length).toBeGreaterThanOrEqual(3);
  expect(chip()).toBe("offline");
});
