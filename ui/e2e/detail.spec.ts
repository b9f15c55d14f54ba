/** What is looked at closely: a log that grows, a worker beside its list, how schedules went, how often something failed. */
import { isLive, rows } from "./harness/look";
import { expect, test } from "./harness/test";

test("the log of a running attempt is followed until its reader scrolls up", async ({ page, ganger, open }) => {
  const { id } = await ganger.post("/v1/jobs", { kind: "letter", queue: "post", payload: {} });
  const { jobs } = await ganger.post("/v1/queues/post:claim", { max: 1, wait: "10s", lease: "5m" });
  const token = jobs[0].lease_token;
  const log = (from: number, count: number) => ganger.post(`/v1/leases/${token}:log`, { text: Array.from({ length: count }, (_, n) => `line ${from + n}\n`).join("") });
  await log(1, 400);
  await open(`jobs/${id}`);
  await isLive(page);
  await page.getByRole("tab", { name: "Logs" }).click();
  const region = page.getByRole("region", { name: "Log", exact: true });
  await expect(region.getByText("line 400", { exact: true })).toBeVisible();
  await log(401, 50);
  await expect(region.getByText("line 450", { exact: true })).toBeVisible();
  // However long it is, few of its lines are in the page.
  expect(await region.locator("[data-index]").count()).toBeLessThan(100);
  await region.hover();
  await page.mouse.wheel(0, -3000);
  await expect(page.getByRole("button", { name: "Follow", exact: true })).toHaveAttribute("aria-pressed", "false");
  await page.getByRole("button", { name: "Follow", exact: true }).click();
  await log(451, 10);
  await expect(region.getByText("line 460", { exact: true })).toBeVisible();
});

test("a worker opens beside the list, and a running job says that its worker is heard", async ({ page, ganger, open }) => {
  await ganger.worker("alice", "--queue", "media", "--threads", "1");
  const { id } = await ganger.post("/v1/jobs", { kind: "sleep", queue: "media", payload: { seconds: 600 } });
  await ganger.counts("state:running", 1);
  await open(`jobs/${id}`);
  await expect(page.getByText(/^Last heartbeat .* ago$/)).toBeVisible();
  await open("workers");
  await isLive(page);
  await rows(page, "Workers").filter({ hasText: "alice" }).getByText("media").click();
  const panel = page.getByRole("complementary", { name: "Worker alice" });
  await expect(panel).toContainText("Threads");
  await expect(page).toHaveURL(/inspect=wrk_/);
  await page.keyboard.press("Escape");
  await expect(panel).toHaveCount(0);
});

test("the list of schedules shows how their last jobs ended", async ({ page, ganger, open }) => {
  await ganger.put("/v1/schedules/report", { cron: "0 3 * * *", time_zone: "UTC", job: { kind: "echo", queue: "reports", payload: {} } });
  await ganger.post("/v1/schedules/report:run");
  await ganger.counts("queue:reports state:succeeded", 1);
  await open("schedules");
  await expect(page.getByRole("img", { name: "The last 1: 1 succeeded" })).toBeVisible();
});

test("failures are counted over the time that is looked at, and as a part of their kind’s runs", async ({ page, ganger, open }) => {
  const fail = (message: string) => ({ kind: "fail", queue: "mail", payload: { times: 9, message }, max_attempts: 1 });
  await ganger.import([...Array.from({ length: 3 }, () => fail("smtp did not answer")), fail("disk full")]);
  await ganger.counts("state:dead", 4);
  await open("failures");
  await isLive(page);
  const row = (error: string) => rows(page, "Groups of failures").filter({ hasText: error });
  await expect(row("smtp did not answer")).toContainText(/75\s%/);
  await expect(row("disk full")).toContainText(/25\s%/);
  await expect(row("smtp did not answer").getByRole("img", { name: "3 failed attempts" })).toBeVisible();
  // The column says over which time, and more of them are counted as they come.
  await expect(page.getByRole("columnheader", { name: "Last 1 h" })).toBeVisible();
  await ganger.import([fail("disk full")]);
  await expect(row("disk full").getByRole("img", { name: "2 failed attempts" })).toBeVisible();
  await open("failures?range=7d");
  await expect(page.getByRole("columnheader", { name: "Last 7 d" })).toBeVisible();
  await expect(row("disk full")).toContainText(/40\s%/);
  // Longer than they are counted over time.
  await open("failures?range=30d");
  await expect(page.getByText("only totals are known")).toBeVisible();
  await expect(row("disk full")).toContainText("—");
  await open();
  const top = page.locator("section").filter({ has: page.getByRole("heading", { name: "Failures, last 1 h" }) });
  await expect(top.getByRole("listitem").first()).toContainText("smtp did not answer");
  await expect(top.getByRole("listitem").first()).toContainText(/60\s% of its runs/);
});
