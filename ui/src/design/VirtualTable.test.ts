// @vitest-environment jsdom
import { expect, it } from "vitest";
import { leastWidth } from "./VirtualTable";

it("gives the head and the rows of a table one least width", () => {
  expect(leastWidth("100px")).toBe(124);
  expect(leastWidth("32px minmax(160px,1fr) 90px")).toBe(32 + 160 + 90 + 40 + 24);
  expect(leastWidth("1fr 50px")).toBe(50 + 20 + 24);
});
