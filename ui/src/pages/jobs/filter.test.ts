import { describe, expect, test } from "vitest";
import { accept, brokenPart, complete, inRange, isPlain, opposite, pathsOf, quote, statesOf, termsOf, withField, without } from "./filter";

const texts = (filter: string) => termsOf(filter).map((term) => term.text);

describe("the conditions of a filter", () => {
  test("are split at spaces, but not within quotes and parentheses", () => {
    expect(texts('state:dead  error~"no such host" -(queue:mail age<5s)')).toEqual(["state:dead", 'error~"no such host"', "-(queue:mail age<5s)"]);
    expect(texts('error:"a \\" b" x')).toEqual(['error:"a \\" b"', "x"]);
    expect(texts("   ")).toEqual([]);
  });
  test("know their field", () => {
    const fields = termsOf('-payload.user.id:42 age<2h timeout "state:dead"').map((term) => [term.field, term.negated]);
    expect(fields).toEqual([["payload.user.id", true], ["age", false], [undefined, false], [undefined, false]]);
  });
  test("can be taken out and turned round", () => {
    expect(without("state:dead queue:mail age<2h", 1)).toBe("state:dead age<2h");
    expect(opposite("state:dead queue:mail", 1)).toBe("state:dead -queue:mail");
    expect(opposite("-queue:mail", 0)).toBe("queue:mail");
    expect(isPlain(termsOf("a or b"))).toBe(false);
  });
});

describe("a field that is replaced", () => {
  test("leaves the others alone", () => {
    expect(withField("queue:mail state:dead age<2h", "state", "state:running")).toBe("state:running queue:mail age<2h");
    expect(withField("state:dead", "state", "")).toBe("");
  });
  test("does not change what `or` means", () => {
    expect(withField("timeout or queue:mail", "state", "state:dead")).toBe("state:dead (timeout or queue:mail)");
  });
  test("states are read only from one plain condition", () => {
    expect(statesOf("queue:x state:dead,retrying")).toBe("dead,retrying");
    expect(statesOf("-state:dead")).toBeUndefined();
    expect(statesOf("")).toBeUndefined();
  });
});

describe("a filter that breaks", () => {
  test("is underlined from there to the end of the word", () => {
    expect(brokenPart("state:dead color:red x", 11)).toEqual({ from: 11, to: 20 });
  });
  test("by bytes, which are not characters", () => {
    expect(brokenPart("key:ü color:red", 7)).toEqual({ from: 6, to: 15 });
  });
  test("at its end underlines the last character", () => {
    expect(brokenPart("queue:", 6)).toEqual({ from: 5, to: 6 });
  });
});

describe("completion", () => {
  const known = { queue: ["mail", "media", "big queue"], paths: ["payload.user.id", "payload.order"] };
  test("offers fields, then their values", () => {
    expect(complete("qu", 2, known)?.options.map((option) => option.text)).toEqual(["queue:"]);
    expect(complete("queue:me", 8, known)?.options.map((option) => option.text)).toEqual(["media"]);
    expect(complete("state:dead queue:mail,b", 23, known)?.options[0]?.text).toBe('"big queue"');
    expect(complete("payload.u", 9, known)?.options[0]?.text).toBe("payload.user.id:");
    expect(complete("timeout ", 8, known)?.options.length).toBeGreaterThan(3);
    expect(complete("age<2h", 3, known)?.options.map((option) => option.text)).toEqual(["age<", "age>"]);
  });
  test("has nothing to say about what it does not know", () => {
    expect(complete("tag:x", 5, known)).toBeUndefined();
    expect(complete('"a b', 4, known)).toBeUndefined();
  });
  test("is put in its place", () => {
    const field = complete("state:dead -qu", 14, known);
    expect(field && accept("state:dead -qu", field, { text: "queue:", about: "" })).toEqual({ text: "state:dead -queue:", caret: 18 });
    const value = complete("queue:ma age<2h", 8, known);
    expect(value && accept("queue:ma age<2h", value, { text: "mail", about: "" })).toEqual({ text: "queue:mail age<2h", caret: 11 });
  });
});

test("values are quoted where they must be", () => {
  expect(quote("mail.send")).toBe("mail.send");
  expect(quote('say "hi"')).toBe('"say \\"hi\\""');
});

test("paths of payloads, the most frequent first", () => {
  expect(pathsOf([{ user: { id: 1 }, b: 2 }, { user: { id: 2 }, list: [1] }, 7])).toEqual(["payload.user.id", "payload.b"]);
});

test("the time range of the page narrows a filter, whatever is in it", () => {
  const moving = { text: "6h", from: 0, to: 1, moving: true };
  expect(inRange("state:dead", undefined)).toBe("state:dead");
  expect(inRange("", moving)).toBe("age<6h");
  expect(inRange("state:dead", moving)).toBe("state:dead age<6h");
  expect(inRange("a or b", moving)).toBe("(a or b) age<6h");
  const fixed = { text: "x..y", from: Date.UTC(2026, 10, 16, 13), to: Date.UTC(2026, 10, 16, 14), moving: false };
  expect(inRange("", fixed)).toBe("created>=2026-11-16T13:00:00Z created<2026-11-16T14:00:00Z");
});
