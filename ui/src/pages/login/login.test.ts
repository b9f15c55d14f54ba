// @vitest-environment jsdom
import { expect, it } from "vitest";
import { safeNext } from ".";

it("leads only to places of this page", () => {
  const next = (text: string | undefined) => safeNext(text, "http://h:1", "/p/ui/");
  expect(next("http://h:1/p/ui/jobs?q=state:dead")).toBe("/jobs?q=state:dead");
  for (const bad of [undefined, "", "http://evil/p/ui/", "//evil", "http://h:1/p/other", "javascript:alert(1)", "http://h:1/p/ui/login"]) {
    expect(next(bad)).toBe("/");
  }
});
