import { expect, it } from "vitest";
import { bodyOf, cliOf, curlOf, EMPTY, formatted, payloadProblem, placed } from "./form";
import { isSample, sampleOf } from "./samples";
import { parseJson } from "@/design/json";

const draft = { ...EMPTY, kind: "email.send", payload: '{"id": 9007199254740993}' };

it("sends the payload as it was typed, and nothing that was left empty", () => {
  expect(bodyOf(draft)).toBe('{"kind":"email.send","payload":{"id": 9007199254740993}}');
  expect(bodyOf({ ...draft, payload: " " })).toBe('{"kind":"email.send"}');
});

it("sends numbers as numbers, and leaves it to the server to refuse what is none", () => {
  expect(JSON.parse(bodyOf({ ...draft, priority: "-5", maxAttempts: "many", tags: "eu, vip" }))).toMatchObject({ priority: -5, max_attempts: "many", tags: ["eu", "vip"] });
});

it("sends only the chosen way to say when", () => {
  const both = { ...draft, delay: "10m", at: "2026-11-16T14:00" };
  expect(JSON.parse(bodyOf(both))).not.toHaveProperty("delay");
  expect(JSON.parse(bodyOf({ ...both, when: "delay" }))).toMatchObject({ delay: "10m" });
  const at = JSON.parse(bodyOf({ ...both, when: "at" })) as { run_at: string; delay?: string };
  expect(Date.parse(at.run_at)).toBe(Date.parse("2026-11-16T14:00"));
  expect(at.delay).toBeUndefined();
});

it("is the same on the command line, quoted for a shell", () => {
  expect(cliOf({ ...draft, queue: "mail", payload: '{"to":"o\'hara"}', uniqueKey: "welcome 42", tags: "eu vip" })).toBe(
    `ganger enqueue email.send --queue mail --payload '{ "to": "o'\\''hara" }' --key 'welcome 42' --tag eu --tag vip`,
  );
  expect(cliOf(draft)).toContain("9007199254740993");
});

it("is the same with curl, with a token where one is asked for", () => {
  const open = curlOf(draft, "http://127.0.0.1:8080/", false);
  expect(open).toContain("curl -s http://127.0.0.1:8080/v1/jobs \\\n");
  expect(open).not.toContain("Authorization");
  expect(curlOf(draft, "http://127.0.0.1:8080/", true)).toContain('-H "Authorization: Bearer $GANGER_TOKEN"');
});

it("says where a payload stops being JSON", () => {
  expect(payloadProblem("")).toBeUndefined();
  expect(payloadProblem('{"a": 1}')).toBeUndefined();
  expect(payloadProblem('{"a": }')).toBe("not JSON at character 7");
});

it("puts line breaks in without touching digits, and leaves what is not JSON alone", () => {
  expect(formatted('{"a":1.10}')).toBe('{\n  "a": 1.10\n}');
  expect(formatted("{oops")).toBe("{oops");
});

it("puts objections at their fields, those of parts of a field too, and keeps the rest", () => {
  const { fields, rest } = placed([
    { pointer: "/queue", detail: "contains ' '" },
    { pointer: "/tags/0", detail: "is empty" },
    { pointer: "/tags/1", detail: "is too long" },
    { pointer: "/run_at", detail: "is in the past" },
    { pointer: "/retry/base", detail: "is not a duration" },
  ]);
  expect(fields).toEqual({ queue: "contains ' '", tags: "is empty; is too long", at: "is in the past" });
  expect(rest).toEqual(["retry is not a duration"]);
});

it("has samples that are JSON, and never takes what somebody typed for one", () => {
  for (const kind of ["echo", "sleep", "fail", "http", "exec", "resize_image"]) {
    const sample = sampleOf(kind) ?? "";
    expect(() => parseJson(sample)).not.toThrow();
    expect(isSample(sample)).toBe(true);
  }
  expect(isSample('{"mine": true}')).toBe(false);
});
