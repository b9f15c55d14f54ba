// @vitest-environment jsdom
import { expect, it } from "vitest";
import { MOST_OWN, readOwn } from "./views";

it("takes what is stored as far as it makes sense", () => {
  expect(readOwn(null)).toEqual([]);
  expect(readOwn("{")).toEqual([]);
  expect(readOwn('"x"')).toEqual([]);
  expect(readOwn('[{"name":"a","query":"state:dead","own":false},{"name":1},null]')).toEqual([{ name: "a", query: "state:dead", own: true }]);
  expect(readOwn(JSON.stringify(Array.from({ length: MOST_OWN + 9 }, (_, n) => ({ name: `v${n}`, query: "" }))))).toHaveLength(MOST_OWN);
});
