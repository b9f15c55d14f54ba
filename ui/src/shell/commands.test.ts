import { expect, it } from "vitest";
import { matchScore, placeOfId } from "./commands";

it("knows where a pasted id leads", () => {
  expect(placeOfId(" job_01J9X7QK5V8M3N2P4R6S8T0V1W\n")).toBe("/jobs/job_01J9X7QK5V8M3N2P4R6S8T0V1W");
  expect(placeOfId("op_01J9X7QK5V8M3N2P4R6S8T0V1W")).toBe("/operations/op_01J9X7QK5V8M3N2P4R6S8T0V1W");
  expect(placeOfId("0192f3a4-5b6c-7d8e-9f00-112233445566")).toBe("/jobs/0192f3a4-5b6c-7d8e-9f00-112233445566");
  for (const text of ["", "job_", "job_01J9", "mail", "job_01J9X7QK5V8M3N2P4R6S8T0V1W extra"]) {
    expect(placeOfId(text)).toBeUndefined();
  }
});

it("finds by words in any order, and likes beginnings", () => {
  expect(matchScore("Pause queue mail", "mail pause")).toBeDefined();
  expect(matchScore("Pause queue mail", "gpu")).toBeUndefined();
  expect(matchScore("Queues", "q") ?? 99).toBeLessThan(matchScore("Pause queue", "q") ?? 0);
  expect(matchScore("Jobs", "")).toBe(0);
});
