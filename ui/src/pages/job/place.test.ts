import { expect, it } from "vitest";
import { placeInWords } from "./place";

it("names the queues that go first", () => {
  expect(placeInWords({ ahead: 0, exact: true })).toBe("0 ahead of it in its queue");
  expect(placeInWords({ ahead: 3, exact: false, other_queues: [{ queue: "bulk", jobs: 1 }] })).toBe("At least 3 ahead of it in its queue, 1 of other queues starts first (bulk 1)");
  const others = ["a", "b", "c", "d"].map((queue) => ({ queue, jobs: 2 }));
  expect(placeInWords({ ahead: 0, exact: true, other_queues: others })).toBe("0 ahead of it in its queue, 8 of other queues start first (a 2, b 2, c 2, …)");
});

it("tells of queues that the caller may not see by their jobs alone", () => {
  expect(placeInWords({ ahead: 1, exact: true, other_queues: [{ jobs: 12 }] })).toBe("1 ahead of it in its queue, 12 of other queues start first");
});
