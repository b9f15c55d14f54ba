/** A frozen page never passes for a calm one. */
import { chip, isLive } from "./harness/look";
import { expect, test } from "./harness/test";

test("a server that is lost is told, and one that is back is live again without a reload", async ({ page, ganger, open, watched }) => {
  watched.expects(/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|Failed to load resource|network error/i);
  await ganger.post("/v1/jobs", { kind: "echo", queue: "before", payload: 1 });
  await open("queues");
  await isLive(page);
  await expect(page.getByRole("link", { name: "before" })).toBeVisible();
  await page.evaluate(() => Object.assign(window, { stillTheSame: true }));
  await ganger.kill();
  await expect(chip(page)).toHaveAttribute("data-connection", /reconnecting|offline/);
  await expect(chip(page)).toHaveAttribute("data-connection", "offline");
  await expect(chip(page)).toContainText("showing data from");
  // What was known stays to be read.
  await expect(page.getByRole("link", { name: "before" })).toBeVisible();
  await ganger.restart();
  await ganger.post("/v1/jobs", { kind: "echo", queue: "after", payload: 1 });
  await expect(chip(page)).toHaveAttribute("data-connection", "live", { timeout: 60_000 });
  await expect(page.getByRole("link", { name: "after" })).toBeVisible();
  expect(await page.evaluate(() => (window as { stillTheSame?: boolean }).stillTheSame)).toBe(true);
});

test("somebody who pauses sees no change until he goes on", async ({ page, ganger, open }) => {
  await ganger.post("/v1/jobs", { kind: "echo", queue: "first", payload: 1 });
  await open("queues");
  await isLive(page);
  await expect(page.getByRole("link", { name: "first" })).toBeVisible();
  await page.keyboard.press(".");
  await expect(chip(page)).toHaveAttribute("data-connection", "paused");
  await ganger.post("/v1/jobs", { kind: "echo", queue: "second", payload: 1 });
  await ganger.counts("queue:second state:succeeded", 1);
  // Twice the time in which it would have been told.
  await page.waitForTimeout(2000);
  await expect(page.getByRole("link", { name: "second" })).toHaveCount(0);
  await chip(page).click();
  await expect(chip(page)).toHaveAttribute("data-connection", "live");
  await expect(page.getByRole("link", { name: "second" })).toBeVisible();
});

test("eight tabs over HTTP/1.1 are all live", async ({ context, page, ganger, open }) => {
  await open("queues");
  await isLive(page);
  for (let n = 0; n < 7; n += 1) {
    const tab = await context.newPage();
    await tab.goto(`${ganger.url}/ui/queues`);
    await isLive(tab);
  }
  await ganger.post("/v1/jobs", { kind: "echo", queue: "told-to-all", payload: 1 });
  await page.bringToFront();
  await expect(page.getByRole("link", { name: "told-to-all" })).toBeVisible();
});
