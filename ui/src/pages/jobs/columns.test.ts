// @vitest-environment jsdom
import { expect, test } from "vitest";
import { readColumns } from "./columns";

test("a stored choice is taken as far as it makes sense, in the order of the table", () => {
  expect(readColumns('["worker","kind","nonsense"]')).toEqual(["state", "kind", "worker"]);
  expect(readColumns("[]")).toEqual(readColumns(null));
  expect(readColumns("{")).toEqual(readColumns(null));
  expect(readColumns(null)).toContain("created");
  expect(readColumns(null)).not.toContain("worker");
});
