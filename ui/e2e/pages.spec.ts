/** Every page in both themes: nothing that axe finds, nothing that the content policy refuses. */
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { demo, pages } from "./harness/demo";
import { isLive, isLoaded } from "./harness/look";
import { expect, test } from "./harness/test";

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
/** What another theme can change: the document is the same, only its colours are not. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"];

type Theme = "dark" | "light";

/** What axe finds on the page as it is, or on a part of it: everything in the dark, and in the light what only colours can break. */
async function faultsOf(page: Page, name: string, theme: Theme, part?: string): Promise<string[]> {
  await page.emulateMedia({ colorScheme: theme });
  await expect(page.locator("html")).toHaveAttribute("data-theme", theme);
  const axe = part ? new AxeBuilder({ page }).include(part) : new AxeBuilder({ page });
  const { violations } = await (theme === "dark" ? axe.withTags(TAGS) : axe.withRules(OF_COLOURS)).analyze();
  return violations.map(({ id, help, nodes }) => `${name} (${theme}): ${id}: ${help}: ${nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
}

test("no page has a fault that axe finds, dark or light", async ({ page, ganger, open }) => {
  test.setTimeout(300_000);
  const shown = await demo(ganger);
  const faults: string[] = [];
  for (const [name, path] of Object.entries(pages(shown))) {
    await page.emulateMedia({ colorScheme: "dark" });
    await open(path);
    await isLive(page);
    await isLoaded(page);
    faults.push(...(await faultsOf(page, name, "dark")));
    // The same page in the other theme, without loading it again.
    faults.push(...(await faultsOf(page, name, "light")));
  }
  expect(faults).toEqual([]);
});

test("no dialog, drawer, menu or first step has a fault that axe finds, dark or light", async ({ page, ganger, open }) => {
  test.setTimeout(300_000);
  const faults: string[] = [];
  const look = async (name: string, part = '[role="dialog"]') => {
    for (const theme of ["dark", "light"] as const) faults.push(...(await faultsOf(page, name, theme, part)));
    await page.emulateMedia({ colorScheme: "dark" });
  };
  await open();
  await isLive(page);
  await expect(page.getByRole("heading", { name: "Welcome to Ganger" })).toBeVisible();
  await look("first run", "main");
  const { dead } = await demo(ganger);
  await open("jobs?q=state%3Adead");
  await isLive(page);
  await page.getByRole("checkbox", { name: "Select all loaded rows" }).check();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page.getByLabel(/^Type/)).toBeVisible();
  await look("preview of a bulk operation");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Save view" }).click();
  await look("saving a view");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Settings and account" }).click();
  await look("settings", '[role="menu"]');
  await page.keyboard.press("Escape");
  await page.getByRole("combobox", { name: "Filter" }).fill("que");
  await look("completion", '[role="search"]');
  await page.keyboard.press("Control+k");
  await look("palette");
  await page.keyboard.press("Escape");
  await open(`jobs?inspect=${dead}`);
  await expect(page.getByRole("complementary", { name: `Job ${dead}` })).toContainText("Last error");
  await look("inspector", "aside");
  await page.keyboard.press("?");
  await look("keys");
  await open("schedules/nightly-report");
  await page.getByRole("button", { name: "Edit schedule" }).click();
  await expect(page.getByLabel("Cron expression")).toBeVisible();
  await look("editor of a schedule");
  for (const tab of ["configuration", "access"]) {
    await open(`system?tab=${tab}`);
    await isLoaded(page);
    await look(`system, ${tab}`, "main");
  }
  expect(faults).toEqual([]);
});

test("a colour that is too pale in one theme only is found in that theme", async ({ page, open }) => {
  await open("jobs");
  await isLive(page);
  await isLoaded(page);
  const paint = (colour: string) => page.getByRole("heading", { level: 1 }).evaluate((heading: HTMLElement, given) => heading.style.setProperty("color", given), colour);
  await paint("#e3e6ec");
  expect(await faultsOf(page, "jobs", "dark")).toEqual([]);
  expect((await faultsOf(page, "jobs", "light")).join()).toMatch(/^jobs \(light\): color-contrast: .*<h1/);
  await paint("#14181f");
  expect(await faultsOf(page, "jobs", "light")).toEqual([]);
  expect((await faultsOf(page, "jobs", "dark")).join()).toMatch(/^jobs \(dark\): color-contrast: .*<h1/);
});

test("a page that is not there says so, and the rest of the page lives on", async ({ page, open }) => {
  await open("no/such/page");
  await expect(page.getByRole("main")).toContainText(/not|nothing/i);
  await page.getByRole("link", { name: /^Jobs/ }).first().click();
  await expect(page).toHaveURL(/\/ui\/jobs/);
});

test.describe("in production", () => {
  test.use({ server: { label: "production" } });
  test("every page says which installation it is", async ({ page, open }) => {
    await open();
    await expect(page.getByText("production").first()).toBeVisible();
  });
});
