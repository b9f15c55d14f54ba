/** Every page in both themes: nothing that axe finds, nothing that the content policy refuses. */
import AxeBuilder from "@axe-core/playwright";
import { demo, pages } from "./harness/demo";
import { isLive, isLoaded } from "./harness/look";
import { expect, test } from "./harness/test";

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
/** What another theme can change: the document is the same, only its colours are not. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"];

test("no page has a fault that axe finds, dark or light", async ({ page, ganger, open }) => {
  test.setTimeout(300_000);
  const shown = await demo(ganger);
  const faults: string[] = [];
  const look = async (name: string, axe: AxeBuilder) => {
    for (const { id, help, nodes } of (await axe.analyze()).violations) {
      faults.push(`${name}: ${id}: ${help}: ${nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
    }
  };
  const root = page.locator("html");
  for (const [name, path] of Object.entries(pages(shown))) {
    await page.emulateMedia({ colorScheme: "dark" });
    await open(path);
    await isLive(page);
    await isLoaded(page);
    await expect(root).toHaveAttribute("data-theme", "dark");
    await look(`${name} (dark)`, new AxeBuilder({ page }).withTags(TAGS));
    // The same page in the other theme, without loading it again.
    await page.emulateMedia({ colorScheme: "light" });
    await expect(root).toHaveAttribute("data-theme", "light");
    await look(`${name} (light)`, new AxeBuilder({ page }).withRules(OF_COLOURS));
  }
  expect(faults).toEqual([]);
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
