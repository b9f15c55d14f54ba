/**
 * What every browser test begins with: a server of its own, and a page that is watched.
 *
 * A test fails if its page logs an error, breaks the content policy or throws, unless it said that it expects to.
 */
import { type Page, test as base } from "@playwright/test";
import { Ganger, type GangerOptions } from "./ganger";

interface Watched {
  /** What the page complained about. */
  complaints: string[];
  /** Complaints that fit are expected. */
  expects: (...patterns: RegExp[]) => void;
}

interface Fixtures {
  /** How the server is to be; set with `test.use`. */
  server: GangerOptions;
  ganger: Ganger;
  watched: Watched;
  /** Opens a page of the UI, such as `jobs?q=state:dead`. */
  open: (path?: string) => Promise<void>;
}

export const test = base.extend<Fixtures>({
  server: [{}, { option: true }],
  ganger: async ({ server }, lend, info) => {
    const ganger = await Ganger.start(server);
    await lend(ganger);
    if (info.status !== info.expectedStatus) await info.attach("server.log", { body: ganger.log });
    await ganger.stop();
  },
  watched: [
    async ({ page }, lend) => {
      const complaints: string[] = [];
      const expected: RegExp[] = [];
      watch(page, complaints);
      await lend({ complaints, expects: (...patterns) => expected.push(...patterns) });
      const left = complaints.filter((text) => !expected.some((pattern) => pattern.test(text)));
      if (left.length > 0) throw new Error(`the page complained:\n${left.join("\n")}`);
    },
    { auto: true },
  ],
  open: async ({ page, ganger }, lend) => {
    await lend(async (path = "") => {
      await page.goto(`${ganger.url}/ui/${path}`);
    });
  },
});

export { expect } from "@playwright/test";

/** Writes down what a page complains about. Violations of the content policy are logged as errors too. */
export function watch(page: Page, complaints: string[]): void {
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(`console: ${message.text()} (${message.location().url})`);
  });
  page.on("pageerror", (error) => complaints.push(`thrown: ${error.message}`));
}
