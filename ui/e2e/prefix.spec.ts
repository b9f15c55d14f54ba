/** Behind a proxy that shows the server under a prefix. The fixture fails on any error in the console. */
import { isLive, isLoaded } from "./harness/look";
import { Proxy } from "./harness/proxy";
import { expect, test } from "./harness/test";

test("everything works under a prefix: pages, files, API, live events, reloads", async ({ page, ganger }) => {
  const proxy = await Proxy.start(ganger.url, "/tools/jobs");
  try {
    const { id } = await ganger.post("/v1/jobs", { kind: "echo", queue: "mail", payload: { hello: "world" } });
    await page.goto(`${proxy.url}/`);
    await expect(page).toHaveURL(`${proxy.url}/ui/`);
    await isLive(page);
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: /^Jobs/ }).click();
    await expect(page).toHaveURL(new RegExp(`^${proxy.url}/ui/jobs`));
    await page.goto(`${proxy.url}/ui/jobs/${id}`);
    await isLoaded(page);
    await expect(page.getByText("echo").first()).toBeVisible();
    await page.reload();
    await isLive(page);
    await expect(page.getByText("echo").first()).toBeVisible();
    expect(proxy.strays).toEqual([]);
  } finally {
    await page.goto("about:blank");
    await proxy.stop();
  }
});

test.describe("with a login", () => {
  test.use({ server: { auth: true } });
  test("a login under a prefix holds, and is sent nowhere else", async ({ page, ganger, watched, context }) => {
    watched.expects(/401/);
    const proxy = await Proxy.start(ganger.url, "/tools/jobs");
    try {
      await ganger.post("/v1/users", { name: "ada", password: "correct horse battery", role: "operator" });
      await page.goto(`${proxy.url}/ui/jobs`);
      await page.getByLabel(/name/i).fill("ada");
      await page.getByLabel(/password/i).fill("correct horse battery");
      await page.getByRole("button", { name: /log in/i }).click();
      await isLive(page);
      const cookies = await context.cookies();
      expect(cookies.length).toBeGreaterThan(0);
      for (const cookie of cookies) {
        expect(cookie.path).toBe("/tools/jobs/v1");
        expect(cookie.httpOnly).toBe(true);
        expect(cookie.sameSite).toBe("Strict");
      }
      await page.reload();
      await isLive(page);
      expect(proxy.strays).toEqual([]);
    } finally {
      await page.goto("about:blank");
      await proxy.stop();
    }
  });
});
