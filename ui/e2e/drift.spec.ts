/** What the page believes about the API is what the binary serves. */
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "./harness/test";

const UI = resolve(import.meta.dirname, "..");

test("the committed document and the types made from it are those of the binary", async ({ ganger }) => {
  const folder = await mkdtemp(join(tmpdir(), "ganger-drift-"));
  try {
    execFileSync("node", [join(UI, "scripts/generate.mjs"), ganger.url, folder], { cwd: UI, stdio: "pipe" });
    const hint = "run `npm run generate -- http://127.0.0.1:8080` in ui/ against the new server, and commit what it writes";
    for (const [made, committed] of [["openapi.json", "openapi.json"], ["schema.d.ts", "src/api/schema.d.ts"]] as const) {
      const [there, here] = await Promise.all([readFile(join(folder, made), "utf8"), readFile(join(UI, committed), "utf8")]);
      expect(there === here, `${committed} is not what the binary serves: ${hint}`).toBe(true);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});
