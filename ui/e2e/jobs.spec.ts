/** Finding jobs among many, and doing something about them. */
import { readFile } from "node:fs/promises";
import AxeBuilder from "@axe-core/playwright";
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
  // Rows that were loaded a while before they came on the screen are read again by their ids, all of a screen at once.
  const again = asked.filter((url) => url.includes("q=id%3A")).length;
  expect(asked.length - again).toBeLessThanOrEqual(30);
  expect(again).toBeLessThanOrEqual(30);

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

test("a filter is completed while it is typed: fields, then names that exist", async ({ page, ganger, open }) => {
  await ganger.post("/v1/jobs", { kind: "echo", queue: "mail", payload: { customer: "acme" } });
  await ganger.post("/v1/jobs", { kind: "echo", queue: "media", payload: {} });
  await ganger.counts("state:succeeded", 2);
  await open("jobs");
  await isLive(page);
  // The stream has told its counts, which do not name queues.
  await expect(page.getByRole("navigation", { name: "Jobs by state" }).getByRole("link", { name: /^Done/ })).toContainText("2");
  const option = (text: string) => page.getByRole("listbox", { name: "Suggestions" }).getByRole("option", { name: text, exact: true });
  await page.keyboard.press("/");
  await page.keyboard.type("que");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("combobox", { name: "Filter" })).toHaveValue("queue:");
  await expect(option("mail")).toBeVisible();
  await expect(option("media")).toBeVisible();
  await page.keyboard.type("mai");
  await expect(option("media")).toHaveCount(0);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.keyboard.type("payload.");
  await expect(option("payload.customer:")).toHaveCount(0);
  await expect(page.getByRole("option", { name: /^payload\.customer:/ })).toBeVisible();
  await page.keyboard.type("customer:acme");
  await page.keyboard.press("Enter");
  await expect(rows(page, "Jobs")).toHaveCount(1);
});

test("a filter is kept as a view, for everybody or for oneself, and its matches are taken away as a file", async ({ page, ganger, open }) => {
  const fail = { kind: "fail", queue: "mail", payload: { times: 9, message: "no such host" }, max_attempts: 1 };
  await ganger.import([fail, fail, { kind: "echo", queue: "mail", payload: 1 }]);
  await ganger.counts("state:dead", 2);
  await ganger.counts("state:succeeded", 1);
  const rail = page.getByRole("navigation", { name: "Pages" });
  const save = async (name: string, who: string) => {
    await page.getByRole("button", { name: "Save view" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill(name);
    await page.getByRole("radio", { name: who }).check();
    await page.getByRole("dialog").getByRole("button", { name: "Save view" }).click();
    await expect(rail.getByRole("link", { name })).toBeVisible();
  };
  await open("jobs?q=state%3Adead");
  await isLive(page);
  await save("died", "For everybody");
  expect((await ganger.get("/v1/views")).items.map((view: { name: string }) => view.name)).toEqual(["died"]);
  await open("jobs?q=kind%3Aecho");
  await save("echoes", "For me, in this browser");
  expect((await ganger.get("/v1/views")).items).toHaveLength(1);
  await page.reload();
  await expect(rail.getByRole("link", { name: "echoes" })).toBeVisible();
  await rail.getByRole("link", { name: "died" }).click();
  await expect(rows(page, "Jobs")).toHaveCount(2);
  // Exactly what matches, in both forms.
  const exported = async (format: string) => {
    await page.getByRole("button", { name: "More", exact: true }).click();
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: `Export all matches as ${format}` }).click()]);
    expect(file.suggestedFilename()).toBe(`jobs.${format.toLowerCase()}`);
    return (await readFile(await file.path(), "utf8")).trim().split("\n");
  };
  const lines = (await exported("NDJSON")).map((line) => JSON.parse(line) as { state: string; payload: { message: string } });
  expect(lines.map(({ state, payload }) => [state, payload.message])).toEqual(Array.from({ length: 2 }, () => ["dead", "no such host"]));
  const [head = "", ...table] = await exported("CSV");
  expect(head).toContain("state");
  expect(table).toHaveLength(2);
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Delete the view died" }).click();
  await expect(rail.getByRole("link", { name: "died" })).toHaveCount(0);
});

test("a job that was changed on its own page is in the list as it is now", async ({ page, ganger, open }) => {
  await ganger.post("/v1/jobs", { kind: "fail", queue: "mail", payload: { times: 1, message: "once" }, max_attempts: 1 });
  await ganger.counts("state:dead", 1);
  await open("jobs");
  await isLive(page);
  await expect(rows(page, "Jobs").first()).toContainText("dead");
  await page.keyboard.press("j");
  await page.keyboard.press("o");
  await page.getByRole("button", { name: "Replay", exact: true }).click();
  await ganger.counts("state:succeeded", 1);
  // Longer than what was just read counts as new.
  await page.waitForTimeout(2500);
  await page.goBack();
  await expect(rows(page, "Jobs").first()).toContainText("succeeded");
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
  await page.getByRole("link", { name: "Failures of the same cause" }).click();
  const { items } = await ganger.get("/v1/failures");
  await expect(page).toHaveURL(new RegExp(`/failures/${items[0].fingerprint}$`));
});

test("a payload is peeked at without leaving the list", async ({ page, ganger, open }) => {
  await ganger.post("/v1/queues/bulk:pause");
  await ganger.import(many(3));
  const asked: string[] = [];
  page.on("request", (request) => request.url().endsWith("/payload") && asked.push(request.url()));
  await open("jobs");
  await isLive(page);
  await expect(rows(page, "Jobs")).toHaveCount(3);
  const peek = page.getByRole("tooltip");
  // The newest is first. What the pointer rests on is shown; what it crosses is not.
  await rows(page, "Jobs").nth(0).hover();
  await expect(peek).toContainText('"order": 2');
  await expect(rows(page, "Jobs").nth(0)).toHaveAttribute("aria-describedby", (await peek.getAttribute("id")) ?? "");
  await page.keyboard.press("Escape");
  await expect(peek).toHaveCount(0);
  await page.mouse.move(0, 0);
  // With the keyboard: it opens, follows, and closes; what was read is not read again.
  await page.keyboard.press("j");
  await page.keyboard.press("Space");
  await expect(peek).toContainText('"order": 2');
  await page.keyboard.press("j");
  await expect(peek).toContainText('"order": 1');
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map((fault) => fault.id)).toEqual([]);
  await page.keyboard.press("Space");
  await expect(peek).toHaveCount(0);
  await expect(rows(page, "Jobs").nth(1)).toBeFocused();
  expect(asked.length).toBe(2);
  // Escape closes what was opened last, and nothing behind it.
  await page.keyboard.press("Enter");
  const inspector = page.getByRole("complementary", { name: /^Job job_/ });
  await expect(inspector).toBeVisible();
  await rows(page, "Jobs").nth(0).hover();
  await expect(peek).toContainText('"order": 2');
  await page.keyboard.press("Escape");
  await expect(peek).toHaveCount(0);
  await expect(inspector).toBeVisible();
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

test("the time range narrows the list of jobs, and none is any time", async ({ page, ganger, open }) => {
  await ganger.post("/v1/queues/bulk:pause");
  await ganger.import(many(3));
  const past = "2026-01-01T00:00:00Z..2026-01-02T00:00:00Z";
  await open("jobs");
  await isLive(page);
  await expect(page.getByRole("button", { name: "Time range: Any time" })).toBeVisible();
  await expect(rows(page, "Jobs")).toHaveCount(3);
  await open(`jobs?range=${encodeURIComponent(past)}`);
  await expect(page.getByText("No job matches")).toBeVisible();
  await page.getByRole("button", { name: "Look at any time" }).click();
  await expect(rows(page, "Jobs")).toHaveCount(3);
});
