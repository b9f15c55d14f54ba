// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Job } from "@/api/types";
import { glance, HOLD_MS, place } from "./glance";
import { usePeek } from "./Peek";

vi.mock("@/shell/announce", () => ({ announce: (text: string) => said.push(text) }));

const said: string[] = [];
let asked: { url: string; signal: AbortSignal | null | undefined }[] = [];
let permissions: string[] = [];
let answer: () => Promise<Response>;

beforeEach(() => {
  said.length = 0;
  asked = [];
  permissions = ["read", "read_payload"];
  answer = async () => new Response('{"id":9007199254740993,"to":"ann"}', { headers: { "content-type": "application/json" } });
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    if (url.includes("whoami")) return new Response(JSON.stringify({ permissions, queues: ["*"] }), { headers: { "content-type": "application/json" } });
    asked.push({ url, signal: init.signal });
    return answer();
  });
  // jsdom knows no pointer, so nothing is ever under it.
  const matches = Element.prototype.matches;
  vi.spyOn(Element.prototype, "matches").mockImplementation(function (this: Element, selector: string) {
    return selector === ":hover" ? true : matches.call(this, selector);
  });
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const JOBS = ["job_1", "job_2"].map((id) => ({ id, kind: "mail.send", queue: "mail" }) as Job);

function Rows({ openId }: { openId?: string }) {
  const peek = usePeek(JOBS, openId);
  return (
    <>
      <div role="grid" {...peek.on}>
        {JOBS.map((job) => (
          <div key={job.id} role="row" tabIndex={-1} data-row-id={job.id} aria-describedby={peek.described?.row === job.id ? peek.described.by : undefined} onKeyDown={(event) => peek.onKey(event, job)}>
            {job.id}
          </div>
        ))}
      </div>
      {peek.card}
    </>
  );
}

async function show(openId?: string) {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  client.setQueryData(["whoami"], { permissions, queues: ["*"] });
  const view = (open?: string) => (
    <QueryClientProvider client={client}>
      <Rows {...(open ? { openId: open } : {})} />
    </QueryClientProvider>
  );
  const { rerender } = render(view(openId));
  return { row: (id: string) => screen.getByText(id), open: (id: string) => rerender(view(id)) };
}

const rest = (row: HTMLElement) => fireEvent(row, new PointerMove());
class PointerMove extends MouseEvent {
  pointerType = "mouse";
  constructor() {
    super("pointermove", { bubbles: true, clientX: 30, clientY: 30 });
  }
}

it("shows the payload of a row on which the pointer rests, with every digit, and asks for it once", async () => {
  const { row } = await show();
  rest(row("job_1"));
  expect(screen.queryByRole("tooltip")).toBeNull();
  await screen.findByText(/9007199254740993/);
  expect(row("job_1").getAttribute("aria-describedby")).toBe(screen.getByRole("tooltip").id);
  fireEvent.keyDown(window, { key: "Escape" });
  expect(screen.queryByRole("tooltip")).toBeNull();
  rest(row("job_1"));
  await screen.findByText(/9007199254740993/);
  expect(asked.length).toBe(1);
});

it("shows nothing of a row that the pointer only crosses", async () => {
  vi.useFakeTimers();
  const { row } = await show();
  rest(row("job_1"));
  act(() => vi.advanceTimersByTime(HOLD_MS - 1));
  fireEvent.pointerOut(row("job_1"), { relatedTarget: document.body });
  act(() => vi.advanceTimersByTime(10 * HOLD_MS));
  expect(screen.queryByRole("tooltip")).toBeNull();
  expect(asked).toEqual([]);
});

it("stops asking when the pointer leaves before the answer is there", async () => {
  answer = () => new Promise(() => {});
  const { row } = await show();
  rest(row("job_1"));
  await screen.findByText("Reading…");
  await waitFor(() => expect(asked[0]?.signal?.aborted).toBe(false));
  fireEvent.pointerOut(row("job_1"), { relatedTarget: document.body });
  await waitFor(() => expect(screen.queryByRole("tooltip")).toBeNull());
  await waitFor(() => expect(asked[0]?.signal?.aborted).toBe(true));
});

it("stays while the pointer is on it", async () => {
  const { row } = await show();
  rest(row("job_1"));
  const card = await screen.findByRole("tooltip");
  vi.useFakeTimers();
  fireEvent.pointerOut(row("job_1"), { relatedTarget: card });
  fireEvent.pointerOver(card, { relatedTarget: row("job_1") });
  act(() => vi.advanceTimersByTime(10 * HOLD_MS));
  expect(screen.getByRole("tooltip")).toBe(card);
  fireEvent.pointerOut(card, { relatedTarget: document.body });
  act(() => vi.advanceTimersByTime(10 * HOLD_MS));
  expect(screen.queryByRole("tooltip")).toBeNull();
});

it("opens with Space, follows the focus, is said aloud, and closes with Space", async () => {
  const { row } = await show();
  fireEvent.keyDown(row("job_1"), { key: " " });
  await screen.findByText(/"ann"/);
  await waitFor(() => expect(said[0]).toContain("9007199254740993"));
  act(() => row("job_2").focus());
  await waitFor(() => expect(asked.map((each) => each.url).join()).toContain("job_2/payload"));
  expect(row("job_2").getAttribute("aria-describedby")).toBe(screen.getByRole("tooltip").id);
  fireEvent.keyDown(row("job_2"), { key: " " });
  expect(screen.queryByRole("tooltip")).toBeNull();
});

it("tells whoever may not read payloads so, and asks for nothing", async () => {
  permissions = ["read"];
  const { row } = await show();
  fireEvent.keyDown(row("job_1"), { key: " " });
  expect((await screen.findByRole("tooltip")).textContent).toContain("read_payload");
  expect(asked).toEqual([]);
});

it("says why a payload cannot be read", async () => {
  answer = async () => new Response(JSON.stringify({ status: 404, code: "job_not_found", detail: "there is no such job" }), { status: 404, headers: { "content-type": "application/problem+json" } });
  const { row } = await show();
  fireEvent.keyDown(row("job_1"), { key: " " });
  await screen.findByText(/could not be read: there is no such job/);
});

it("goes away when the job is opened, and does not come back over it", async () => {
  const { row, open } = await show();
  rest(row("job_1"));
  await screen.findByRole("tooltip");
  open("job_1");
  await waitFor(() => expect(screen.queryByRole("tooltip")).toBeNull());
  vi.useFakeTimers();
  rest(row("job_1"));
  act(() => vi.advanceTimersByTime(10 * HOLD_MS));
  expect(screen.queryByRole("tooltip")).toBeNull();
});

it("shows the beginning of what is long, and says how much is left", () => {
  expect(glance('{"a":1.50}')).toEqual({ text: '{\n  "a": 1.50\n}', rest: undefined });
  expect(glance("not json")).toEqual({ text: "not json", rest: undefined });
  const long = glance(JSON.stringify(Array.from({ length: 40 }, (_, n) => n)));
  expect([long.text.split("\n").length, long.rest]).toEqual([16, "26 more lines"]);
  const wide = glance(`"${"x".repeat(5000)}"`);
  expect([wide.text.length, wide.rest]).toEqual([16 * 56 + 1, "4,106 more letters"]);
  // A line that is wrapped takes the room of several.
  const wrapped = glance(JSON.stringify({ note: "x".repeat(500), a: [1, 2, 3, 4, 5, 6] }));
  expect([wrapped.text.split("\n").length, wrapped.rest]).toEqual([7, "4 more lines"]);
});

it("stands beside its row, within the window", () => {
  const window = { width: 1000, height: 800 };
  expect(place({ left: 100, top: 100, bottom: 134 }, window)).toEqual({ left: 100, width: 440, top: 134, maxHeight: 340 });
  expect(place({ left: 900, top: 700, bottom: 734 }, window)).toEqual({ left: 552, width: 440, bottom: 100, maxHeight: 340 });
  expect(place({ left: 5, top: 300, bottom: 500 }, { width: 300, height: 700 })).toEqual({ left: 8, width: 284, bottom: 400, maxHeight: 292 });
});
