/** Without a mouse, and on a small screen. */
import { demo, pages } from "./harness/demo";
import { chip, isLive, isLoaded, rows } from "./harness/look";
import { expect, test } from "./harness/test";

test("a dead job is found, opened and left with the keyboard alone", async ({ page, ganger, open }) => {
  for (const n of [1, 2, 3]) {
    await ganger.post("/v1/jobs", { kind: "fail", queue: "mail", payload: { times: 9, message: `reason ${n}` }, max_attempts: 1 });
  }
  await ganger.counts("state:dead", 3);
  await open();
  await isLive(page);
  await page.keyboard.press("g");
  await page.keyboard.press("j");
  await expect(page).toHaveURL(/\/ui\/jobs/);
  await expect(rows(page, "Jobs")).toHaveCount(3);
  await page.keyboard.press("/");
  await expect(page.getByRole("search").getByRole("textbox").or(page.getByRole("combobox")).first()).toBeFocused();
  await page.keyboard.type('error:"reason 2"');
  await page.keyboard.press("Enter");
  await expect(rows(page, "Jobs")).toHaveCount(1);
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await expect(rows(page, "Jobs").first()).toBeFocused();
  await page.keyboard.press("Enter");
  // In the inspector: the row says it too, before there is anything to leave.
  await expect(page.getByRole("complementary", { name: /^Job job_/ }).getByText("reason 2").first()).toBeVisible();
  await page.keyboard.press("Escape");
  // Whoever closes it is where he was.
  await expect(rows(page, "Jobs").first()).toBeFocused();
  await page.keyboard.press("o");
  await expect(page).toHaveURL(/\/ui\/jobs\/job_/);
});

test("the first tab stop leads past the navigation, and every key is listed", async ({ page, open }) => {
  await open("jobs");
  await isLive(page);
  await page.keyboard.press("Tab");
  const skip = page.locator(":focus");
  await expect(skip).toHaveText(/skip/i);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("main")).toBeFocused();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
});

test("jobs are selected, replayed, cancelled and gone through with the keys of the sheet", async ({ page, ganger, open }) => {
  await ganger.post("/v1/queues/slow:pause");
  await ganger.import(Array.from({ length: 4 }, () => ({ kind: "echo", queue: "slow", payload: {} })));
  await open("jobs");
  await isLive(page);
  await expect(rows(page, "Jobs")).toHaveCount(4);
  const selected = page.getByRole("region", { name: "Selected jobs" });
  const dialog = page.getByRole("dialog");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await expect(selected).toContainText("1 job selected");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Shift+X");
  await expect(selected).toContainText("3 jobs selected");
  await page.keyboard.press("a");
  await expect(selected).toContainText("4 jobs selected");
  await page.keyboard.press("Shift+A");
  await expect(selected).toContainText("All 4 matching jobs");
  await page.keyboard.press("c");
  await expect(dialog).toContainText("Cancel jobs");
  await expect(dialog).toContainText("4 jobs");
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  await page.getByRole("button", { name: "Clear selection" }).click();
  // Beside the list: why it waits, the next one, the one before, and the same verbs.
  const first = (await rows(page, "Jobs").nth(0).getAttribute("data-row-id")) ?? "";
  const second = (await rows(page, "Jobs").nth(1).getAttribute("data-row-id")) ?? "";
  await rows(page, "Jobs").first().focus();
  await page.keyboard.press("e");
  const inspector = (id: string) => page.getByRole("complementary", { name: `Job ${id}` });
  await expect(inspector(first)).toContainText("Why it does not run");
  await expect(inspector(first)).toBeFocused();
  await page.keyboard.press("]");
  await expect(inspector(second)).toBeFocused();
  await page.keyboard.press("[");
  await expect(inspector(first)).toBeFocused();
  await page.keyboard.press("c");
  await expect(dialog).toContainText("Cancel this job?");
  await dialog.getByRole("button", { name: "Cancel job" }).press("Enter");
  await ganger.counts("state:cancelled", 1);
  await expect(inspector(first)).toContainText("cancelled");
  await inspector(first).focus();
  await page.keyboard.press("r");
  await expect(dialog).toContainText("Replay this job?");
  await page.keyboard.press("Escape");
  await page.keyboard.press("t");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "light");
  // Every key that does something is on the sheet.
  await page.keyboard.press("?");
  for (const key of ["g o", "g j", "g f", "g q", "g s", "g w", "g k", "/", ".", "t", "?", "j k", "x", "⇧x", "a", "A", "n", "Space", "Enter", "o", "r", "c", "e", "[ ]"]) {
    const keys = dialog.locator("dd").filter({ hasText: new RegExp(`^${key.replaceAll(" ", "").replace(/[.?[\]/]/g, "\\$&")}$`) });
    await expect(keys.first(), key).toBeVisible();
  }
});

test("single keys can be turned off, and what has the focus still has its own", async ({ page, ganger, open }) => {
  await ganger.post("/v1/jobs", { kind: "echo", queue: "mail", payload: 1 });
  await ganger.counts("state:succeeded", 1);
  await open("jobs");
  await isLive(page);
  await page.getByRole("button", { name: "Settings and account" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Keyboard shortcuts" }).click();
  await page.keyboard.press("Escape");
  await page.getByRole("main").focus();
  for (const key of ["t", ".", "?", "g", "q"]) await page.keyboard.press(key);
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await isLive(page);
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(page).toHaveURL(/\/ui\/jobs$/);
  await rows(page, "Jobs").first().focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("complementary", { name: /^Job job_/ })).toBeVisible();
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("dialog")).toBeVisible();
});

test("tabs are called by what they show", async ({ page, ganger, open }) => {
  await ganger.post("/v1/jobs", { kind: "echo", queue: "mail", payload: 1 });
  for (const [path, title] of [["", "Overview · Ganger"], ["jobs?q=state%3Adead", "state:dead · Jobs · Ganger"], ["queues/mail", "mail · Queues · Ganger"]] as const) {
    await open(path);
    await expect(page).toHaveTitle(title);
  }
});

test("an id that is pasted into the palette leads to its job", async ({ page, ganger, open }) => {
  const { id } = await ganger.post("/v1/jobs", { kind: "echo", queue: "mail", payload: 1 });
  await open();
  await isLive(page);
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.type(id);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`/ui/jobs.*${id}`));
});

test.describe("on a small screen", () => {
  test.use({ viewport: { width: 390, height: 844 } });
  test("nothing is wider than the screen, and everything can be reached", async ({ page, ganger, open }) => {
    test.setTimeout(180_000);
    const shown = await demo(ganger);
    await ganger.post("/v1/jobs", { kind: "fail", queue: "mail", payload: { times: 9, message: "x".repeat(300) }, max_attempts: 1 });
    await ganger.counts("queue:mail state:dead", 1);
    for (const [name, path] of Object.entries(pages(shown))) {
      await open(path);
      await isLive(page);
      await isLoaded(page);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(wide, `${name} is wider than the screen`).toBeLessThanOrEqual(0);
      // What is open is in sight in the bar at the bottom, which is longer than the screen.
      await expect(page.getByRole("navigation", { name: "Pages" }).locator('[aria-current="page"]'), name).toBeInViewport({ ratio: 0.9 });
    }
    await open("jobs");
    await isLive(page);
    await expect(chip(page)).toBeVisible();
    await rows(page, "Jobs").first().click();
    await expect(page.getByText("fail").first()).toBeVisible();
  });
});

test("Enter in a field does not submit a job; the button and Ctrl+Enter do", async ({ page, ganger, open }) => {
  await open("submit");
  await page.getByRole("combobox", { name: "Kind" }).fill("echo");
  await page.keyboard.press("Enter");
  await page.getByRole("combobox", { name: "Queue" }).fill("typed");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+Enter");
  await ganger.counts("queue:typed", 1);
  await ganger.counts("", 1);
});
