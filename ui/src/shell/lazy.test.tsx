// @vitest-environment jsdom
import { render, screen } from "@testing-library/react";
import { Component, type ReactNode, Suspense } from "react";
import { expect, it, vi } from "vitest";
import { forgetFailures, lazyPage, preloadWhenIdle } from "./lazy";

class Boundary extends Component<{ children: ReactNode }, { message: string }> {
  override state = { message: "" };
  static getDerivedStateFromError = (error: Error) => ({ message: error.message });
  override render() {
    return this.state.message || this.props.children;
  }
}

it("fails inside what is around it, once, and loads again when it is told to", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  const load = vi.fn<() => Promise<{ default: () => ReactNode }>>().mockRejectedValueOnce(new TypeError("Failed to fetch"));
  load.mockResolvedValue({ default: () => "the page" });
  const Page = lazyPage(load);
  const shown = (key: string) => (
    <Boundary key={key}>
      <Suspense fallback="loading">
        <Page />
      </Suspense>
    </Boundary>
  );
  const { rerender } = render(shown("one"));
  expect(await screen.findByText(/could not be loaded/)).toBeTruthy();
  expect(load).toHaveBeenCalledTimes(1);
  forgetFailures();
  rerender(shown("two"));
  expect(await screen.findByText("the page")).toBeTruthy();
});

it("loads pages ahead, and forgets that one failed until somebody wants it", async () => {
  const good = vi.fn(async () => ({ default: () => "good" }));
  const bad = vi.fn<() => Promise<{ default: () => ReactNode }>>().mockRejectedValueOnce(new TypeError("Failed to fetch"));
  bad.mockResolvedValue({ default: () => "there after all" });
  lazyPage(good);
  const Bad = lazyPage(bad);
  preloadWhenIdle((run) => setTimeout(run, 0));
  await vi.waitFor(() => expect(bad).toHaveBeenCalledTimes(1));
  await vi.waitFor(() => expect(good).toHaveBeenCalledTimes(1));
  render(
    <Suspense fallback="loading">
      <Bad />
    </Suspense>,
  );
  expect(await screen.findByText("there after all")).toBeTruthy();
});
