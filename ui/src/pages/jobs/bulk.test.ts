// @vitest-environment jsdom
import { expect, test } from "vitest";
import { commandOf, label, mustType, requestOf, skippedText } from "./bulk";

test("a number is typed for what is large or final", () => {
  expect(mustType("replay", 10_000)).toBeUndefined();
  expect(mustType("replay", 12_481)).toBe("12481");
  expect(mustType("delete", 1)).toBe("1");
  expect(mustType("delete", 0)).toBeUndefined();
});

test("an empty filter is said out loud", () => {
  expect(requestOf("cancel", { filter: "" })).toEqual({ action: "cancel", all: true });
  expect(requestOf("cancel", { filter: "queue:mail" })).toEqual({ action: "cancel", filter: "queue:mail" });
  expect(requestOf("replay", { ids: ["job_1"] })).toEqual({ action: "replay", ids: ["job_1"] });
});

test("the command line is the same thing", () => {
  expect(commandOf("replay", { filter: "state:dead error~'x'" }, 200, "smtp is back")).toBe(
    "ganger operation start replay --filter 'state:dead error~'\\''x'\\''' --rate 200 --reason 'smtp is back'",
  );
  expect(commandOf("delete", { ids: ["job_1", "job_2"] }, 500, "")).toBe("ganger operation start delete --id job_1 --id job_2");
});

test("buttons name the number", () => {
  expect(label("replay", 12_481)).toBe("Replay 12,481 jobs");
  expect(label("delete", 1)).toBe("Delete 1 job");
});

test("what was skipped is told with its reason", () => {
  expect(skippedText(3, { final: 2, gone: 1 })).toBe("3 skipped: 2 ended already, 1 not there any more");
  expect(skippedText(0, {})).toBe("");
});
