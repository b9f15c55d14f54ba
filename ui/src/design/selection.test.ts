import { expect, it } from "vitest";
import { extend, NOTHING, toggle, toggleAll } from "./selection";

const order = ["a", "b", "c", "d", "e"];
const ids = (selection: { ids: ReadonlySet<string> }) => [...selection.ids].sort().join("");

it("selects and gives back one row", () => {
  const one = toggle(NOTHING, "b");
  expect(ids(one)).toBe("b");
  expect(ids(toggle(one, "b"))).toBe("");
});

it("selects from the anchor to here, both ways, and keeps the anchor", () => {
  const at = toggle(NOTHING, "c");
  expect(ids(extend(at, "e", order))).toBe("cde");
  expect(ids(extend(extend(at, "e", order), "b", order))).toBe("bcde");
  expect(extend(at, "e", order).anchor).toBe("c");
});

it("selects one row where the anchor is gone from the list", () => {
  expect(ids(extend(toggle(NOTHING, "z"), "b", order))).toBe("bz");
  expect(ids(extend(NOTHING, "b", order))).toBe("b");
});

it("selects all, and nothing if all are selected", () => {
  expect(ids(toggleAll(NOTHING, order))).toBe("abcde");
  expect(ids(toggleAll(toggleAll(NOTHING, order), order))).toBe("");
  expect(ids(toggleAll(NOTHING, []))).toBe("");
});
