/** Without a mouse, and on a small screen. */
import { chip, isLive, rows } from "./harness/look";
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
    await ganger.post("/v1/jobs", { kind: "fail", queue: "mail", payload: { times: 9, message: "x".repeat(300) }, max_attempts: 1 });
    await ganger.counts("state:dead", 1);
    for (const path of ["", "jobs", "failures", "queues", "queues/mail", "workers", "schedules", "system"]) {
      await open(path);
      await isLive(page);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(wide, `${path} is wider than the screen`).toBeLessThanOrEqual(0);
    }
    await open("jobs");
    await isLive(page);
    await expect(chip(page)).toBeVisible();
    await rows(page, "Jobs").first().click();
    await expect(page.getByText("fail").first()).toBeVisible();
  });
});
