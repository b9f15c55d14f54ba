/** Who may do what: the page shows no more than that, and the server allows no more whatever the page shows. */
import { isLive, isLoaded, rows } from "./harness/look";
import { expect, test } from "./harness/test";

test.use({ server: { auth: true } });

test.beforeEach(async ({ ganger, watched }) => {
  // Whoever is not logged in is refused, and the browser logs that.
  watched.expects(/status of 40[013]/);
  await ganger.worker("alice");
  await ganger.post("/v1/users", { name: "vera", password: "only looking around", role: "viewer" });
  await ganger.post("/v1/users", { name: "otto", password: "turning the screws", role: "operator" });
  await ganger.post("/v1/jobs", { kind: "fail", queue: "mail", payload: { times: 9 }, max_attempts: 1 });
  await ganger.counts("state:dead", 1);
});

async function logIn(page: import("@playwright/test").Page, name: string, password: string): Promise<void> {
  await page.getByLabel(/name/i).fill(name);
  await page.getByLabel(/password/i).fill(password);
  await page.getByRole("button", { name: /log in/i }).click();
  await isLive(page);
}

const ACTIONS = /^(Replay|Cancel|Delete|Pause|Resume|Drain|Run now|Run it|Edit|Save|Purge|Discard|New schedule|Backfill|Revoke|Submit|Clone|Export|Let handlers)\b/;

test("a viewer sees no action, and the server refuses what he tries without one", async ({ page, ganger, open }) => {
  const { items } = await ganger.get("/v1/jobs?state=dead");
  const id = items[0].id as string;
  await open(`jobs/${id}`);
  await logIn(page, "vera", "only looking around");
  const { items: groups } = await ganger.get("/v1/failures");
  const { items: workers } = await ganger.get("/v1/workers");
  await ganger.put("/v1/schedules/report", { cron: "0 3 * * *", time_zone: "UTC", job: { kind: "echo", queue: "reports", payload: {} } });
  const places = ["", "jobs", `jobs/${id}`, "failures", `failures/${groups[0].fingerprint}`, "queues", "queues/mail", "schedules", "schedules/report", "workers", `workers/${workers[0].id}`, "operations", "kinds", "analytics", "submit", "system"];
  for (const path of places) {
    await open(path);
    await isLive(page);
    await isLoaded(page);
    for (const role of ["button", "link"] as const) await expect(page.getByRole("main").getByRole(role, { name: ACTIONS }), `${path}: ${role}`).toHaveCount(0);
    // Nor in any menu.
    for (const menu of await page.getByRole("main").locator('[aria-haspopup="menu"]').all()) {
      await menu.click();
      await expect(page.getByRole("menu")).toBeVisible();
      await expect(page.getByRole("menuitem", { name: ACTIONS }), `${path}: a menu`).toHaveCount(0);
      await page.keyboard.press("Escape");
    }
  }
  await expect(page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Submit a job" })).toHaveCount(0);
  // What he may not read he is told, and it is not asked for.
  await open("jobs");
  await isLive(page);
  const payloads: string[] = [];
  page.on("request", (request) => request.url().endsWith("/payload") && payloads.push(request.url()));
  await expect(rows(page, "Jobs").first()).toBeVisible();
  await page.keyboard.press("j");
  await page.keyboard.press("Space");
  await expect(page.getByRole("tooltip")).toContainText("You may not read payloads");
  expect(payloads).toEqual([]);
  // His browser, his cookie, without the page.
  const tried = await page.evaluate(async (job) => {
    const asked = [`v1/jobs/${job}:replay`, "v1/queues/mail:pause", "v1/jobs"];
    const bodies = ["{}", "{}", '{"kind":"noop"}'];
    const ask = async (path: string, n: number) => {
      const init = { method: "POST", body: bodies[n] ?? "{}", headers: { "content-type": "application/json" } };
      return (await fetch(new URL(`../../${path}`, location.href.replace(/\/ui\/.*$/, "/ui/x/")), init)).status;
    };
    return Promise.all(asked.map(ask));
  }, id);
  expect(tried).toEqual([403, 403, 403]);
  expect((await ganger.get(`/v1/jobs/${id}`)).state).toBe("dead");
});

test("an operator sees the actions, and they work", async ({ page, ganger, open }) => {
  const { items } = await ganger.get("/v1/jobs?state=dead");
  await open(`jobs/${items[0].id}`);
  await logIn(page, "otto", "turning the screws");
  await open(`jobs/${items[0].id}`);
  await isLive(page);
  await expect(page.getByRole("button", { name: /^Replay/ }).first()).toBeVisible();
  await page.getByRole("button", { name: /^Replay/ }).first().click();
  await expect
    .poll(async () => (await ganger.get(`/v1/jobs/${items[0].id}/attempts`)).items.length)
    .toBeGreaterThan(1);
});

test("an operator of some queues sees what he may do there, and nothing that is about all of them", async ({ page, ganger, open }) => {
  await ganger.post("/v1/users", { name: "mara", password: "only the mail queue", role: "operator", queues: ["mail"] });
  const { items } = await ganger.get("/v1/jobs?state=dead");
  await open("jobs");
  await logIn(page, "mara", "only the mail queue");
  await expect(rows(page, "Jobs")).toHaveCount(1);
  // Bulk operations are about all queues.
  await expect(rows(page, "Jobs").first().getByRole("checkbox")).toHaveCount(0);
  await open(`jobs/${items[0].id}`);
  await page.getByRole("button", { name: "Replay", exact: true }).click();
  await expect
    .poll(async () => (await ganger.get(`/v1/jobs/${items[0].id}/attempts`)).items.length)
    .toBeGreaterThan(1);
});

test("a wrong password is refused in words, and a login ends", async ({ page, open }) => {
  await open("jobs");
  await page.getByLabel(/name/i).fill("vera");
  await page.getByLabel(/password/i).fill("not hers at all");
  await page.getByRole("button", { name: /log in/i }).click();
  await expect(page.getByRole("alert").first()).toBeVisible();
  await logIn(page, "vera", "only looking around");
  await expect(page).toHaveURL(/\/ui\/jobs/);
});
