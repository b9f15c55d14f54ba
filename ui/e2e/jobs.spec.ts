/** Finding jobs among many, and doing something about them. */
import { isLive, isLoaded, rows } from "./harness/look";
import { expect, test } from "./harness/test";

/** Jobs that wait in a paused queue, numbered. */
function* many(count: number): Generator<unknown> {
  for (let n = 0; n < count; n += 1) {
    yield { kind: "echo", queue: "bulk", payload: { order: n, customer: { plan: n % 1000 === 7 ? "gold" : "free" } } };
  }
}

test("twelve failures among 100,000 jobs are found and replayed", async ({ page, ganger, open }) => {
  test.setTimeout(300_000);
  await ganger.post("/v1/queues/bulk:pause");
  await ganger.import(many(100_000));
  const fails = Array.from({ length: 12 }, () => ({
    kind: "fail",
    queue: "mail",
    payload: { times: 1, message: "smtp.example.com timed out" },
    max_attempts: 1,
  }));
  await ganger.import(fails);
  await ganger.counts("queue:mail state:dead", 12);

  const asked: string[] = [];
  page.on("request", (request) => request.url().includes("/v1/jobs?") && asked.push(request.url()));
  await open("jobs");
  await isLive(page);
  await expect(page.getByRole("navigation", { name: "Jobs by state" })).toContainText("12");
  // However long the list is, few rows exist, and few pages are asked for.
  const grid = page.getByRole("grid", { name: "Jobs" });
  await expect(rows(page, "Jobs").first()).toBeVisible();
  for (let n = 0; n < 30; n += 1) {
    await grid.hover();
    await page.mouse.wheel(0, 900);
    expect(await rows(page, "Jobs").count()).toBeLessThanOrEqual(60);
  }
  expect(asked.length).toBeLessThanOrEqual(30);

  await page.getByRole("navigation", { name: "Jobs by state" }).getByRole("link", { name: /^Failed/ }).click();
  await expect(rows(page, "Jobs")).toHaveCount(12);
  await expect(rows(page, "Jobs").first()).toContainText("smtp.example.com timed out");
  await rows(page, "Jobs").first().getByRole("checkbox").check();
  await page.getByRole("checkbox", { name: "Select all loaded rows" }).check();
  await page.getByRole("button", { name: /^Replay/ }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText("12");
  await dialog.getByRole("button", { name: /^Replay 12 jobs/ }).click();
  await ganger.counts("queue:mail state:succeeded", 12);
  await expect(page.getByText(/no job matches/i)).toBeVisible();
});

test("jobs are found by a value in their payload", async ({ page, ganger, open }) => {
  await ganger.post("/v1/queues/bulk:pause");
  await ganger.import(many(5_000));
  await open("jobs");
  await isLive(page);
  await page.keyboard.press("/");
  await page.keyboard.type("payload.customer.plan:gold");
  await page.keyboard.press("Enter");
  await expect(rows(page, "Jobs")).toHaveCount(5);
  await expect(page).toHaveURL(/q=/);
  await page.reload();
  await expect(rows(page, "Jobs")).toHaveCount(5);
});

test("a filter that cannot be read is underlined where it breaks", async ({ page, open, watched }) => {
  watched.expects(/400/);
  await open("jobs?q=state%3Adead%20color%3Ared");
  await isLoaded(page);
  await expect(page.getByText(/color/).first()).toBeVisible();
});

test("a job tells what happened to it", async ({ page, ganger, open }) => {
  const payload = { times: 5, message: "no such host" };
  const { id } = await ganger.post("/v1/jobs", { kind: "fail", queue: "mail", max_attempts: 1, payload });
  await ganger.counts("state:dead", 1);
  await open(`jobs/${id}`);
  await isLoaded(page);
  await expect(page.getByText("no such host").first()).toBeVisible();
});

test("a number larger than any double is shown as it is", async ({ page, ganger, open }) => {
  const body = '{"kind": "echo", "queue": "mail", "payload": {"id": 9007199254740993}}';
  const answer = await fetch(`${ganger.url}/v1/jobs`, { method: "POST", body, headers: { "content-type": "application/json" } });
  const { id } = (await answer.json()) as { id: string };
  await ganger.counts("state:succeeded", 1);
  await open(`jobs/${id}`);
  await isLoaded(page);
  await expect(page.getByText("9007199254740993").first()).toBeVisible();
});
