// @vitest-environment jsdom
import { expect, it } from "vitest";
import type { Failure } from "@/api/types";
import { onlyWhere } from "@/pages/failure";
import { rangeOf } from "@/shell/range";
import { groupCli, wantedWord } from "./GroupDialog";
import { compare, drawn, inRange, isNew, lately, samplesOf, search, splitError, tally, windowOf } from "./groups";

const now = Date.UTC(2026, 10, 16, 14, 0);
const iso = (minutesAgo: number) => new Date(now - minutesAgo * 60_000).toISOString();
const group = (fingerprint: string, first: number, last: number, error = "boom"): Failure => ({ fingerprint, kind: "mail.send", count: 3, first_at: iso(first), last_at: iso(last), error, job: "job_1" });

it("asks for a window that reaches back to where a past range began", () => {
  expect(windowOf(rangeOf("6h", now), now)).toBe("6h");
  expect(windowOf(rangeOf(`${iso(90)}..${iso(60)}`, now), now)).toBe("90m");
});

it("keeps the groups that may have been seen in a past range", () => {
  const range = rangeOf(`${iso(90)}..${iso(60)}`, now);
  const items = [group("before", 200, 100), group("within", 80, 70), group("across", 300, 1), group("after", 30, 1)];
  expect(inRange({ items }, range).map((each) => each.fingerprint)).toEqual(["within", "across"]);
  // Where it is known when they came, those that were not seen between the ends are left out.
  const window = { from: iso(90), to: iso(0), step: "30m" };
  for (const each of items) each.recent = { count: 5, trend: each.fingerprint === "within" ? [5, 0, 0] : [0, 4, 1] };
  expect(inRange({ items, window }, range).map((each) => each.fingerprint)).toEqual(["within"]);
});

it("tells what a group did in the range, and nothing where nobody counted", () => {
  const recent = { count: 6, trend: [1, 2, 3], share: 0.25 };
  const window = { from: iso(90), to: iso(0), step: "30m" };
  const counted = { ...group("a", 300, 1), recent };
  expect(lately(counted, window, rangeOf("1h", now))).toEqual(recent);
  expect(lately(counted, window, rangeOf(`${iso(90)}..${iso(60)}`, now))).toEqual({ count: 1, trend: [1], share: undefined });
  expect(lately(counted, window, rangeOf(`${iso(70)}..${iso(30)}`, now))).toEqual({ count: 3, trend: [1, 2], share: undefined });
  expect(lately(group("a", 300, 1), undefined, rangeOf("30d", now))).toBeUndefined();
});

it("draws the running step only if it does not look like a fall", () => {
  expect(drawn([4, 5, 1])).toEqual([4, 5]);
  expect(drawn([4, 5, 6])).toEqual([4, 5, 6]);
  expect(drawn([5, 1])).toEqual([5, 1]);
  expect(drawn([])).toEqual([]);
});

it("calls new what was never seen before the range", () => {
  const range = rangeOf("1h", now);
  expect([isNew(group("a", 30, 1), range), isNew(group("b", 300, 1), range)]).toEqual([true, false]);
});

it("tells the class of an error from what it says", () => {
  expect(splitError("TimeoutError: smtp did not answer\n  at x")).toEqual({ name: "TimeoutError", text: "smtp did not answer" });
  expect(splitError("requests.exceptions.ConnectionError: refused")).toEqual({ name: "requests.exceptions.ConnectionError", text: "refused" });
  expect(splitError("payload does not fit the handler: missing field")).toEqual({ name: undefined, text: "payload does not fit the handler: missing field" });
});

it("finds groups by error, kind or fingerprint, whatever the case", () => {
  const all = [group("aa11", 1, 1, "TimeoutError: smtp"), group("bb22", 1, 1, "refused")];
  expect(search(all, "timeout").map((each) => each.fingerprint)).toEqual(["aa11"]);
  expect(search(all, "MAIL.").length).toBe(2);
  expect(search(all, "bb2").length).toBe(1);
});

it("counts the most frequent first and names those without a value", () => {
  expect(Object.entries(tally(["w-1", "w-3", null, "w-3"]))).toEqual([["w-3", 2], ["w-1", 1], ["none", 1]]);
});

it("says that only one worker is concerned, and only if there are enough to say so", () => {
  const jobs = (count: number, worker: (index: number) => string) => Array.from({ length: count }, (_, index) => ({ worker: worker(index), queue: "mail" }));
  expect(onlyWhere(jobs(6, () => "w-3"))).toBe("All of them failed on the worker w-3.");
  expect(onlyWhere(jobs(6, (index) => `w-${index}`))).toBe("All of them are of the queue mail.");
  expect(onlyWhere(jobs(2, () => "w-3"))).toBeUndefined();
});

it("compares payloads with every digit, shared values first", () => {
  const samples = samplesOf('{"items":[{"id":"job_1","payload":{"n":9007199254740993,"to":"a","plan":"pro"}},{"id":"job_2","payload":{"n":9007199254740992,"plan":"pro"}}]}');
  expect(compare(samples)).toEqual([
    { path: "payload.plan", values: ['"pro"', '"pro"'], same: true },
    { path: "payload.n", values: ["9007199254740993", "9007199254740992"], same: false },
    { path: "payload.to", values: ['"a"', undefined], same: false },
  ]);
});

it("compares payloads that are not objects, and jobs without one", () => {
  expect(compare(samplesOf('{"items":[{"id":"job_1","payload":[1,2]},{"id":"job_2"}]}'))).toEqual([
    { path: "payload.0", values: ["1", undefined], same: false },
    { path: "payload.1", values: ["2", undefined], same: false },
  ]);
});

it("wants the number typed for what is final or large", () => {
  expect(wantedWord("replay", 10_000)).toBeUndefined();
  expect(wantedWord("replay", 12_481)).toBe("12481");
  expect(wantedWord("discard", 3)).toBe("3");
  expect(wantedWord("discard", 0)).toBeUndefined();
});

it("shows the same on the command line", () => {
  const target = { action: "replay", fingerprint: "96bb23fc0a536547", error: "x" } as const;
  expect(groupCli(target, "500", "")).toBe("ganger failure replay 96bb23fc0a536547");
  expect(groupCli(target, "50", "smtp is back")).toBe("ganger failure replay 96bb23fc0a536547 --rate 50 --reason 'smtp is back'");
});
