/** Pictures of every page, dark and light, for the documents: `make screenshots`. */
import { join, resolve } from "node:path";
import { demo, pages } from "./harness/demo";
import { isLive, isLoaded } from "./harness/look";
import { test } from "./harness/test";

const FOLDER = resolve(import.meta.dirname, "../../docs/images");

test("every page is photographed", async ({ page, ganger, open }) => {
  test.setTimeout(300_000);
  const shown = await demo(ganger);
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const [name, path] of Object.entries(pages(shown))) {
      await open(path);
      await isLive(page);
      await isLoaded(page);
      await page.screenshot({ path: join(FOLDER, `${name}-${colorScheme}.png`), animations: "disabled" });
    }
  }
});
