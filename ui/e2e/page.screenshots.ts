/** Pictures of every page, dark and light, for the documents: `make screenshots`. */
import { join, resolve } from "node:path";
import { demo, pages } from "./harness/demo";
import type { Ganger } from "./harness/ganger";
import { isLive, isLoaded } from "./harness/look";
import { expect, test } from "./harness/test";

const FOLDER = resolve(import.meta.dirname, "../../docs/images");
/** Of traffic, before the pictures are taken: charts of a single moment show nothing. */
const MINUTES = 5;
/** Pages that show a stretch of time: one that the traffic fills. */
const OVER_TIME = new Set(["overview", "analytics", "failures", "queues", "queue", "kinds"]);
/** Some causes are more frequent than others. */
const CAUSES = ["connection to smtp.example.com:587 timed out", "connection to smtp.example.com:587 timed out", "unexpected status 503 from payments", "connection to smtp.example.com:587 timed out", "no such template: welcome_v3"];

/** Mails and receipts in waves, some of which fail. */
async function traffic(ganger: Ganger): Promise<void> {
  const begun = Date.now();
  for (let second = 0; second < MINUTES * 60; second += 1) {
    const jobs: unknown[] = [];
    const wave = 1 + Math.sin(second / 23);
    for (let n = 0; n < 3 + 6 * wave; n += 1) jobs.push({ kind: "echo", queue: "mail", payload: { to: `user${second}@acme.example`, order: 2000 + second } });
    for (let n = 0; n < 2 * wave; n += 1) jobs.push({ kind: "sleep", queue: "receipts", payload: { ms: 5 + ((second * 7 + n * 31) % 90) } });
    if (second % 6 === 0) jobs.push({ kind: "fail", queue: "billing", payload: { times: 9, message: CAUSES[(second / 6) % CAUSES.length] }, max_attempts: 2, retry: { base: "1ms", max: "1ms" } });
    // Pictures can do without one second of it.
    await ganger.import(jobs).catch(() => undefined);
    await new Promise((go) => setTimeout(go, Math.max(0, begun + (second + 1) * 1000 - Date.now())));
  }
}

for (const colorScheme of ["dark", "light"] as const) {
  test.describe(`in the ${colorScheme}`, () => {
    test.use({ colorScheme });

    test("the first run is photographed", async ({ page, open }) => {
      await open();
      await isLive(page);
      await page.getByRole("button", { name: "Run it for me" }).click();
      await expect(page.getByRole("img", { name: "Step 2, done" })).toBeVisible();
      await page.getByRole("tab", { name: "Python" }).click();
      await page.mouse.move(0, 0);
      await page.screenshot({ path: join(FOLDER, `first-run-${colorScheme}.png`), animations: "disabled" });
    });

    test.describe("where callers are asked", () => {
      test.use({ server: { auth: true } });
      test("the login is photographed", async ({ page, open, watched }) => {
        watched.expects(/status of 40[01]/);
        await open("jobs");
        await expect(page.getByRole("heading", { name: "Log in" })).toBeVisible();
        await page.getByLabel("Name").fill("ada");
        await page.screenshot({ path: join(FOLDER, `login-${colorScheme}.png`), animations: "disabled" });
      });
    });
  });
}

test("every page is photographed", async ({ page, ganger, open }) => {
  test.setTimeout((MINUTES + 8) * 60_000);
  const shown = await demo(ganger);
  await traffic(ganger);
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const [name, path] of Object.entries(pages(shown))) {
      await open(OVER_TIME.has(name) ? `${path}?range=15m` : path);
      await isLive(page);
      await isLoaded(page);
      await page.screenshot({ path: join(FOLDER, `${name}-${colorScheme}.png`), animations: "disabled" });
    }
  }
});
