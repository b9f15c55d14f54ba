import { expect, test } from "vitest";
import { found, isAtEnd, linesOf, linksOf } from "./logs";

test("a line break at the end makes no line of its own, an empty line does", () => {
  expect(linesOf("")).toEqual([]);
  expect(linesOf("a\n")).toEqual(["a"]);
  expect(linesOf("a\n\nb\n")).toEqual(["a", "", "b"]);
});

test("lines are found whatever the case, and all of them without a search", () => {
  expect(found(["Sent", "sending", "done"], "SEN")).toEqual(["Sent", "sending"]);
  expect(found(["a", "b"], "")).toEqual(["a", "b"]);
});

test("who scrolls up is no longer at the end, who is within half a line of it still is", () => {
  expect(isAtEnd({ scrollTop: 900, clientHeight: 100, scrollHeight: 1000 })).toBe(true);
  expect(isAtEnd({ scrollTop: 889, clientHeight: 100, scrollHeight: 1000 })).toBe(true);
  expect(isAtEnd({ scrollTop: 870, clientHeight: 100, scrollHeight: 1000 })).toBe(false);
});

test("makes links of addresses, and of nothing else", () => {
  const parts = linksOf("see https://example.com/a?b=1. Or (http://x.test/y), not javascript:alert(1)");
  expect(parts.map(({ href }) => href)).toEqual([undefined, "https://example.com/a?b=1", undefined, "http://x.test/y", undefined]);
  expect(parts.map(({ text }) => text).join("")).toBe("see https://example.com/a?b=1. Or (http://x.test/y), not javascript:alert(1)");
  expect(linksOf("")).toEqual([{ at: 0, text: "", href: undefined }]);
});
