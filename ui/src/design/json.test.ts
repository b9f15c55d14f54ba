import { expect, it } from "vitest";
import { parseJson, prettyJson } from "./json";

it("keeps every digit", () => {
  const text = '{"id":9007199254740993,"rate":1.10,"small":1e-400}';
  expect(prettyJson(parseJson(text))).toBe('{\n  "id": 9007199254740993,\n  "rate": 1.10,\n  "small": 1e-400\n}');
});

it("keeps the order and the doubles of keys", () => {
  expect(prettyJson(parseJson('{"b":1,"a":2,"b":3}')).replace(/\s/g, "")).toBe('{"b":1,"a":2,"b":3}');
});

it.each(['"a\\u00e9\\n"', "[]", "{}", "[1,[2,{}],null,true]", " -0.5 ", '""'])("reads %s as JSON.parse does", (text) => {
  expect(JSON.parse(prettyJson(parseJson(text)))).toEqual(JSON.parse(text));
});

it.each(["", "{", "[1,]", "01", "nul", '{"a" 1}', "1 2", '"\n"', "{a:1}", "[".repeat(300)])("refuses %s", (text) => {
  expect(() => parseJson(text)).toThrow(/not JSON at character \d+/);
});
