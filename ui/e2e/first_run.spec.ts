/** Somebody opens the page of a server that has never done anything. */
import { isLive } from "./harness/look";
import { expect, test } from "./harness/test";

test("the first run leads to the first finished job", async ({ page, ganger, open }) => {
  await open();
  await isLive(page);
  await expect(page.getByText("ganger run -- echo hello").first()).toBeVisible();
  await page.getByRole("button", { name: /run it for me/i }).click();
  await ganger.counts("state:succeeded", 1);
  // It ticks itself: nobody reloads.
  await expect(page.getByText(/succeeded|finished/i).first()).toBeVisible();
});

test("a job is submitted with the form, and its page shows the result", async ({ page, ganger, open }) => {
  await open("submit");
  await isLive(page);
  await page.getByLabel(/kind/i).first().fill("echo");
  await page.getByLabel(/payload/i).first().fill('{"greeting": "good morning"}');
  await page.getByRole("button", { name: /^(Submit|Enqueue)/ }).click();
  await ganger.counts("kind:echo state:succeeded", 1);
  await expect(page.getByText("good morning").first()).toBeVisible();
});
