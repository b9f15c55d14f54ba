/** A frozen page never passes for a calm one. */
import { chip, isLive, rows } from "./harness/look";
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

test("a server that hangs is told as silent, on a page that is marked as old", async ({ page, ganger, open, watched }) => {
  // What was being asked for when it hung.
  watched.expects(/Failed to load resource/);
  await open("queues");
  await isLive(page);
  // Something was heard: until then a page that was just opened is not called old.
  await ganger.post("/v1/jobs", { kind: "echo", queue: "told", payload: 1 });
  await expect(page.getByRole("link", { name: "told" })).toBeVisible();
  await expect(page.locator("[data-stale]")).toHaveAttribute("data-stale", "false");
  ganger.freeze();
  try {
    // The connection is open, and the browser thinks that all is well.
    await expect(chip(page)).toHaveAttribute("data-connection", "delayed", { timeout: 40_000 });
    await expect(chip(page)).toContainText(/^▲Delayed \d+ s/);
    await expect(page.locator("[data-stale]")).toHaveAttribute("data-stale", "true");
    await expect(page.locator("[data-stale]")).toHaveCSS("border-top-width", "2px");
  } finally {
    ganger.thaw();
  }
  await expect(chip(page)).toHaveAttribute("data-connection", "live", { timeout: 60_000 });
  await expect(page.locator("[data-stale]")).toHaveAttribute("data-stale", "false");
});

test("jobs that came while the server was away do not shift the list", async ({ page, ganger, open, watched }) => {
  watched.expects(/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|Failed to load resource|network error/i);
  await ganger.post("/v1/queues/bulk:pause");
  await ganger.import(Array.from({ length: 20 }, (_, order) => ({ kind: "echo", queue: "bulk", payload: { order } })));
  await open("jobs");
  await isLive(page);
  await expect(rows(page, "Jobs")).toHaveCount(20);
  const ids = () => rows(page, "Jobs").evaluateAll((list) => list.map((row) => (row as HTMLElement).dataset["rowId"]));
  const before = await ids();
  await ganger.kill();
  await expect(chip(page)).toHaveAttribute("data-connection", /reconnecting|offline/);
  await ganger.restart();
  await ganger.import(Array.from({ length: 3 }, () => ({ kind: "echo", queue: "bulk", payload: {} })));
  await expect(chip(page)).toHaveAttribute("data-connection", "live", { timeout: 60_000 });
  await expect(page.getByRole("button", { name: "3 new" })).toBeVisible();
  expect(await ids()).toEqual(before);
  // And what became of those that are shown is shown.
  await ganger.post("/v1/queues/bulk:resume");
  await expect(rows(page, "Jobs").first()).toContainText("succeeded");
  expect(await ids()).toEqual(before);
  await page.keyboard.press("n");
  await expect(rows(page, "Jobs")).toHaveCount(23);
});

test("a paused page asks for nothing by itself", async ({ page, ganger, open }) => {
  await ganger.worker("alice");
  const { items } = await ganger.get("/v1/workers");
  await open(`workers/${items.find((worker: { name: string }) => worker.name === "alice").id}`);
  await isLive(page);
  await page.keyboard.press(".");
  await expect(chip(page)).toHaveAttribute("data-connection", "paused");
  await page.waitForTimeout(500);
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  // This page looks at its worker every five seconds.
  await page.waitForTimeout(6000);
  expect(asked).toEqual([]);
  // What somebody opens is read all the same.
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: /^Queues/ }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Queues" })).toBeVisible();
  await page.keyboard.press(".");
  await isLive(page);
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
    await tab.goto(`${ganger.pageUrl}/ui/queues`);
    await isLive(tab);
  }
  await ganger.post("/v1/jobs", { kind: "echo", queue: "told-to-all", payload: 1 });
  await page.bringToFront();
  await expect(page.getByRole("link", { name: "told-to-all" })).toBeVisible();
});

test("a page that cannot be loaded fails inside the shell, and is there when the server is back", async ({ page, open, watched }) => {
  watched.expects(/ERR_FAILED|Failed to load resource|dynamically imported|could not be loaded/i);
  const start = new Set<string>();
  let cut = false;
  await page.route(/\/assets\//, (route) => {
    if (cut && !start.has(route.request().url())) return route.abort();
    start.add(route.request().url());
    return route.continue();
  });
  // Nothing is loaded ahead: the server goes away before the browser is idle.
  await page.addInitScript(() => Object.assign(window, { requestIdleCallback: () => 0 }));
  await open("jobs");
  await isLive(page);
  cut = true;
  await page.evaluate(() => Object.assign(window, { stillTheSame: true }));
  const rail = page.getByRole("navigation", { name: "Pages" });
  await rail.getByRole("link", { name: /^Queues/ }).click();
  await expect(page.getByText(/could not be loaded from the server/)).toBeVisible();
  await expect(rail).toBeVisible();
  cut = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Queues" })).toBeVisible();
  expect(await page.evaluate(() => (window as { stillTheSame?: boolean }).stillTheSame)).toBe(true);
});

test("pages are loaded ahead: one that was never opened is shown while the server is away", async ({ page, ganger, open, watched }) => {
  watched.expects(/ERR_|Failed to load resource|network error/i);
  const loaded: string[] = [];
  page.on("response", (response) => response.url().includes("/assets/") && loaded.push(response.url()));
  await open("jobs");
  await isLive(page);
  await expect.poll(() => page.evaluate(() => performance.getEntriesByType("resource").length > 0 && document.readyState)).toBe("complete");
  let before = -1;
  await expect.poll(() => (before === loaded.length ? "quiet" : ((before = loaded.length), "busy")), { intervals: [1500] }).toBe("quiet");
  await ganger.kill();
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: /^Schedules/ }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Schedules" })).toBeVisible();
});
