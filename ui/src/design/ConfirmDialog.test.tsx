// @vitest-environment jsdom
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { Problem } from "@/api/problem";
import { ConfirmDialog, type Confirmation } from "./ConfirmDialog";

interface Target {
  ids: string[];
}

function asking(run: (target: Target) => Promise<void>): Confirmation<Target> {
  return {
    title: ({ ids }) => `Delete ${ids.length} jobs?`,
    action: ({ ids }) => `Delete ${ids.length} jobs`,
    typed: ({ ids }) => String(ids.length),
    run,
  };
}

it("confirms what it was opened for, though the list behind it changed", async () => {
  const run = vi.fn(async () => {});
  const close = vi.fn();
  const ask = asking(run);
  const { rerender } = render(<ConfirmDialog target={{ ids: ["a", "b"] }} onClose={close} ask={ask} />);
  rerender(<ConfirmDialog target={{ ids: ["c", "d", "e"] }} onClose={close} ask={ask} />);
  fireEvent.change(screen.getByRole("textbox"), { target: { value: "2" } });
  fireEvent.click(screen.getByRole("button", { name: "Delete 2 jobs" }));
  await waitFor(() => expect(close).toHaveBeenCalledOnce());
  expect(run).toHaveBeenCalledExactlyOnceWith({ ids: ["a", "b"] });
});

it("does nothing before the right word is typed", () => {
  const run = vi.fn(async () => {});
  render(<ConfirmDialog target={{ ids: ["a", "b"] }} onClose={() => {}} ask={asking(run)} />);
  const button = screen.getByRole<HTMLButtonElement>("button", { name: "Delete 2 jobs" });
  expect(button.disabled).toBe(true);
  fireEvent.change(screen.getByRole("textbox"), { target: { value: "3" } });
  fireEvent.submit(screen.getByRole("textbox"));
  expect(button.disabled).toBe(true);
  expect(run).not.toHaveBeenCalled();
});

it("stays open when it did not work, and says why", async () => {
  const close = vi.fn();
  const refuse = async () => {
    throw new Problem({ status: 409, code: "wrong_state", title: "Wrong state", detail: "job a runs", request_id: "req_1" });
  };
  render(<ConfirmDialog target={{ ids: ["a"] }} onClose={close} ask={asking(refuse)} />);
  fireEvent.change(screen.getByRole("textbox"), { target: { value: "1" } });
  fireEvent.click(screen.getByRole("button", { name: "Delete 1 jobs" }));
  const alert = await screen.findByRole("alert");
  expect(alert.textContent).toContain("job a runs");
  expect(alert.textContent).toContain("req_1");
  expect(close).not.toHaveBeenCalled();
});
