// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { beforeEach, expect, it, vi } from "vitest";
import { GroupDialog, type GroupTarget } from "./GroupDialog";

vi.mock("@tanstack/react-router", () => ({ Link: ({ children }: { children: ReactNode }) => <span>{children}</span> }));

let sent: { url: string; body: Record<string, unknown> }[] = [];
let matched = 3;

beforeEach(() => {
  sent = [];
  matched = 3;
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    const body = JSON.parse(String(init.body)) as Record<string, unknown>;
    sent.push({ url, body });
    const scan = { mode: "index", examined: matched, complete: true };
    const answer = body["dry_run"]
      ? { dry_run: true, matched, skipped: 0, by_state: { dead: matched }, by_kind: {}, by_queue: { mail: matched }, sample: ["job_01J9X7QK5V8M3N2P4R6S8T0V1W"], scan }
      : { id: "op_1", action: "replay", state: "running" };
    return new Response(JSON.stringify(answer), { headers: { "content-type": "application/json" } });
  });
});

function open(action: GroupTarget["action"]) {
  const client = new QueryClient();
  const close = vi.fn<() => void>();
  render(
    <QueryClientProvider client={client}>
      <GroupDialog target={{ action, fingerprint: "96bb23fc0a536547", error: "boom" }} onClose={close} />
    </QueryClientProvider>,
  );
  return { client, close };
}

it("tells what it would do, and does just that at the chosen rate", async () => {
  const { close } = open("replay");
  const button = await screen.findByRole("button", { name: "Replay 3 jobs" });
  expect(sent.map((each) => each.body)).toEqual([{ dry_run: true }]);
  fireEvent.change(screen.getByLabelText("Jobs per second"), { target: { value: "50" } });
  fireEvent.click(button);
  await waitFor(() => expect(close).toHaveBeenCalled());
  expect(sent[1]?.url).toContain("/v1/failures/96bb23fc0a536547:replay");
  expect(sent[1]?.body).toEqual({ rate: 50, reason: null });
});

it("discards nothing before the number was typed", async () => {
  open("discard");
  const button = await screen.findByRole<HTMLButtonElement>("button", { name: "Discard 3 jobs" });
  expect(button.disabled).toBe(true);
  fireEvent.change(screen.getByLabelText(/to confirm/), { target: { value: "3" } });
  expect(button.disabled).toBe(false);
});

it("keeps what it showed, whatever is read again behind it", async () => {
  const { client } = open("replay");
  await screen.findByRole("button", { name: "Replay 3 jobs" });
  matched = 99;
  await client.invalidateQueries();
  expect(sent.length).toBe(1);
  expect(screen.getByRole("button", { name: "Replay 3 jobs" })).toBeTruthy();
});

it("says so when there is nothing to do", async () => {
  matched = 0;
  open("replay");
  await screen.findByText(/nothing to replay/);
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Replay 0 jobs" }).disabled).toBe(true);
});

it("refuses a rate that the server would refuse", async () => {
  open("replay");
  const button = await screen.findByRole<HTMLButtonElement>("button", { name: "Replay 3 jobs" });
  fireEvent.change(screen.getByLabelText("Jobs per second"), { target: { value: "20000" } });
  expect(button.disabled).toBe(true);
  expect(screen.getByRole("alert").textContent).toContain("1 to 10,000");
});
