// @vitest-environment jsdom
import { expect, it } from "vitest";
import { type Column, leastWidth, sortRows } from "./VirtualTable";

it("gives the head and the rows of a table one least width", () => {
  expect(leastWidth("100px")).toBe(124);
  expect(leastWidth("32px minmax(160px,1fr) 90px")).toBe(32 + 160 + 90 + 40 + 24);
  expect(leastWidth("1fr 50px")).toBe(50 + 20 + 24);
});

it("sorts by a column: the largest first, texts from A on, what is not known last", () => {
  type Row = { name: string; dead?: number };
  const rows: Row[] = [{ name: "b", dead: 1 }, { name: "a" }, { name: "c", dead: 7 }];
  const columns = [{ id: "name", sortBy: (row: Row) => row.name }, { id: "dead", sortBy: (row: Row) => row.dead }] as unknown as Column<Row>[];
  const names = (id: string, backwards = false) => sortRows(rows, columns, { id, backwards }).map((row) => row.name).join("");
  expect([names("name"), names("name", true), names("dead"), names("dead", true)]).toEqual(["abc", "cba", "cba", "bca"]);
  expect(sortRows(rows, columns, undefined)).toBe(rows);
});
