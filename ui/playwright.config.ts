/** The browser tests: a real Chromium against the real binary. `make e2e` runs them; ui/README.md says how to run one. */
import { defineConfig } from "@playwright/test";

const target = process.env["CARGO_TARGET_DIR"] ?? "../target";

export default defineConfig({
  testDir: "e2e",
  // `spec` always; `soak` and `screenshots` when they are asked for.
  testMatch: `**/*.${process.env["GANGER_E2E"] ?? "spec"}.ts`,
  outputDir: `${target}/ui/e2e`,
  // Two cores: one browser, one server, one test at a time.
  workers: 1,
  fullyParallel: false,
  retries: 0,
  forbidOnly: true,
  timeout: 90_000,
  expect: { timeout: 20_000 },
  reporter: [["list"]],
  use: {
    viewport: { width: 1440, height: 900 },
    locale: "en-GB",
    timezoneId: "UTC",
    colorScheme: "dark",
    contextOptions: { reducedMotion: "reduce" },
    actionTimeout: 20_000,
    navigationTimeout: 30_000,
    trace: "retain-on-failure",
    launchOptions: {
      executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
      args: [
        // In a container there is no sandbox to have, little shared memory and no graphics card.
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--js-flags=--expose-gc",
      ],
    },
  },
});
