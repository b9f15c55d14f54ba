// @vitest-environment jsdom
import { expect, test } from "vitest";
import type { Job } from "@/api/types";
import { countNew, merged, type Pages } from "./live";

const row = (id: string, state = "queued") => ({ id, state }) as Job;

test("only rows that changed are new objects", () => {
  const before: Pages = { pages: [{ items: [row("c"), row("b")] }, { items: [row("a")] }], pageParams: [undefined, "x"] };
  const after = merged(before, new Map([["b", { state: "running" as const }]]));
  expect(after.pages[0]?.items.map((each) => each.state)).toEqual(["queued", "running"]);
  expect(after.pages[0]?.items[0]).toBe(before.pages[0]?.items[0]);
  expect(after.pages[1]).toBe(before.pages[1]);
});

test("new matches are those that the loaded part should have", () => {
  const loaded = [row("d"), row("b")];
  expect(countNew([row("e"), row("d"), row("c"), row("b"), row("a")], loaded, false)).toBe(2);
  expect(countNew([row("e"), row("d"), row("c"), row("b"), row("a")], loaded, true)).toBe(3);
  expect(countNew([row("a")], [], false)).toBe(1);
});
