/** What tests look at on any page. */
import { expect, type Locator, type Page } from "@playwright/test";

/** The connection chip, which says whether what is shown is live. */
export function chip(page: Page): Locator {
  return page.locator("[data-connection]");
}

export async function isLive(page: Page): Promise<void> {
  await expect(chip(page)).toHaveAttribute("data-connection", "live");
}

/** The page is there: it has its heading, and nothing is being loaded. */
export async function isLoaded(page: Page): Promise<void> {
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
}

/** Rows of a table that exist in the document, whatever is visible; its heading does not count. */
export function rows(page: Page, table: string): Locator {
  return page.getByRole("grid", { name: table }).locator("[data-row-id]");
}
