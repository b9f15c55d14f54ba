// @vitest-environment jsdom
import { render } from "@testing-library/react";
import { expect, it } from "vitest";
import { STATES } from "@/api/types";
import { StateIcon, StateLabel } from "./StateIcon";

it("draws eight silhouettes, no two alike without their colours", () => {
  const shapes = STATES.map((state) => render(<StateIcon state={state} />).container.querySelector("svg")?.innerHTML);
  expect(new Set(shapes).size).toBe(8);
});

it("always has a word", () => {
  for (const state of STATES) expect(render(<StateLabel state={state} />).container.textContent).toBe(state);
});
