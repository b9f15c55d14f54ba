/** Queues, workers and schedules, as somebody looks after them. */
import { isLive, isLoaded, rows } from "./harness/look";
import { expect, test } from "./harness/test";

test("a queue is paused and resumed, and the page says so", async ({ page, ganger, open }) => {
  await ganger.post("/v1/jobs", { kind: "echo", queue: "mail", payload: 1 });
  await ganger.counts("queue:mail state:succeeded", 1);
  await open("queues/mail");
  await isLive(page);
  await page.getByRole("button", { name: /^Pause/ }).first().click();
  await confirmed(page, /^Pause/);
  await expect(page.getByText(/paused/i).first()).toBeVisible();
  expect((await ganger.get("/v1/queues/mail")).paused).toBe(true);
  const { id } = await ganger.post("/v1/jobs", { kind: "echo", queue: "mail", payload: 2 });
  // The head of the queue says what holds it.
  await expect(page.getByText("queue mail is paused").first()).toBeVisible();
  expect((await ganger.get(`/v1/jobs/${id}`)).state).toBe("queued");
  await page.getByRole("button", { name: /^Resume/ }).first().click();
  await confirmed(page, /^Resume/);
  await ganger.counts("queue:mail state:succeeded", 2);
  await expect(page.getByText("queue mail is paused")).toHaveCount(0);
});

test.describe("without workers in the server", () => {
  test.use({ server: { workers: false } });

  test("a worker that is killed is told as lost, and its job moves to another one", async ({ page, ganger, open }) => {
    await ganger.worker("alice", "--threads", "1");
    const { id } = await ganger.post("/v1/jobs", { kind: "sleep", queue: "media", payload: { seconds: 600 } });
    await ganger.counts("state:running", 1);
    await open(`jobs/${id}`);
    await isLive(page);
    await expect(page.getByText("alice").first()).toBeVisible();
    await ganger.worker("bob", "--threads", "1");
    await ganger.killWorker("alice");
    // Without a reload: the second attempt runs elsewhere.
    await expect(page.getByText("bob").first()).toBeVisible({ timeout: 60_000 });
    await expect(page.getByText(/lost/i).first()).toBeVisible();
    await open("workers");
    await isLive(page);
    await isLoaded(page);
    await expect(page.getByRole("main")).toContainText("alice");
    await expect(page.getByRole("main")).toContainText(/lost/i);
    await expect(page.getByRole("main")).toContainText("bob");
  });
});

test("a schedule is edited, with a preview of when it fires", async ({ page, ganger, open }) => {
  await ganger.put("/v1/schedules/report", { cron: "0 3 * * *", time_zone: "Europe/Paris", job: { kind: "echo", queue: "reports", payload: {} } });
  await open("schedules/report");
  await isLive(page);
  await page.getByRole("button", { name: /^Edit/ }).first().click();
  const form = page.getByRole("dialog");
  await form.getByLabel(/cron/i).fill("30 4 * * 1");
  await expect(form).toContainText(/04:30/);
  await form.getByRole("button", { name: /^Save/ }).click();
  await expect(form).toHaveCount(0);
  expect((await ganger.get("/v1/schedules/report")).cron).toBe("30 4 * * 1");
  await expect(page.getByRole("main")).toContainText(/04:30/);
});

/** Says yes, where it is asked. */
async function confirmed(page: import("@playwright/test").Page, verb: RegExp): Promise<void> {
  const dialog = page.getByRole("dialog");
  const asks = await dialog.waitFor({ state: "visible", timeout: 1500 }).then(
    () => true,
    () => false,
  );
  if (asks) await dialog.getByRole("button", { name: verb }).click();
}

test("queues are sorted by a click, and can be paused from the list at 1280 pixels", async ({ page, ganger, open }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await ganger.post("/v1/queues/few:pause");
  await ganger.post("/v1/queues/many:pause");
  await ganger.import([{ kind: "echo", queue: "few" }, ...Array.from({ length: 5 }, () => ({ kind: "echo", queue: "many" }))]);
  await open("queues");
  await isLive(page);
  const names = () => rows(page, "Queues").getByRole("link").allInnerTexts();
  await page.getByRole("button", { name: "Ready" }).click();
  await expect.poll(names).toEqual(["many", "few"]);
  await page.getByRole("button", { name: "Ready" }).click();
  await expect.poll(names).toEqual(["few", "many"]);
  await expect(page.getByRole("button", { name: "Resume many" })).toBeInViewport({ ratio: 1 });
});

test("a queue that nobody has named has no page of its own", async ({ page, open }) => {
  await open("queues/nope");
  await expect(page.getByText("There is no queue nope")).toBeVisible();
});

test("a worker lists what it runs with kind and queue", async ({ page, ganger, open }) => {
  const { id } = await ganger.post("/v1/jobs", { kind: "sleep", queue: "media", payload: { seconds: 600 } });
  await ganger.counts("state:running", 1);
  const { items } = await ganger.get("/v1/workers");
  await open(`workers/${items.find((worker: { leases: { job: string }[] }) => worker.leases.some((lease) => lease.job === id)).id}`);
  const row = page.getByRole("listitem").filter({ hasText: "running" });
  await expect(row).toContainText("sleep");
  await expect(row.getByRole("link", { name: "media" })).toBeVisible();
});
