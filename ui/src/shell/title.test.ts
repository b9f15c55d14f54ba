// @vitest-environment jsdom
import { expect, it } from "vitest";
import { titleOf } from "./title";

it("calls a tab by what it shows", () => {
  expect(titleOf("/", undefined, undefined)).toBe("Overview · Ganger");
  expect(titleOf("/jobs", "state:dead queue:mail", "production")).toBe("state:dead queue:mail · Jobs · Ganger production");
  expect(titleOf("/jobs/job_01J9X7QK5V8M3N2P4R6S8T0V1W", undefined, undefined)).toBe("01J9…0V1W · Jobs · Ganger");
  expect(titleOf("/queues/a%2Fb", undefined, undefined)).toBe("a/b · Queues · Ganger");
  expect(titleOf("/queues/100%", undefined, undefined)).toBe("100% · Queues · Ganger");
  expect(titleOf("/login", undefined, undefined)).toBe("Log in · Ganger");
  expect(titleOf("/no/such", undefined, undefined)).toBe("such · Ganger");
  expect(titleOf("/jobs", "x".repeat(100), undefined).length).toBeLessThan(90);
});
