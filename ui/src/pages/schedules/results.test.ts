import { expect, test } from "vitest";
import type { State } from "@/api/types";
import { inWords, lastResults, SHOWN } from "./results";

const job = (name: string | undefined, state: State) => ({ state, schedule: name ? { name, due_at: "2026-01-01T00:00:00Z" } : null });

test("each schedule has its own last results, the newest at the end", () => {
  const results = lastResults([job("a", "running"), job("b", "dead"), job("a", "succeeded"), job(undefined, "queued")]);
  expect(results.get("a")).toEqual(["succeeded", "running"]);
  expect(results.get("b")).toEqual(["dead"]);
  expect(results.size).toBe(2);
});

test("no more than so many are shown, the newest of them", () => {
  const many = [job("a", "dead"), ...Array.from({ length: 20 }, () => job("a", "succeeded"))];
  const states = lastResults(many).get("a");
  expect(states?.length).toBe(SHOWN);
  expect(states?.at(-1)).toBe("dead");
  expect(inWords(states ?? [])).toBe("7 succeeded, 1 dead");
});
