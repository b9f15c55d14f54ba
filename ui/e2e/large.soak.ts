/** The page over a million jobs, and over a long stretch of many changes: `make soak`. The figures go to docs/soak.md. */
import { isLive, rows } from "./harness/look";
import { expect, test } from "./harness/test";

const MILLION = Number(process.env["GANGER_SOAK_JOBS"] ?? 1_000_000);
const MINUTES = Number(process.env["GANGER_SOAK_MINUTES"] ?? 10);
const MB = 1024 * 1024;
/** What a job does at least: it is taken in, started, ended. */
const TRANSITIONS = 3;
const PER_SECOND = 5000;

function* waiting(count: number): Generator<unknown> {
  for (let n = 0; n < count; n += 1) yield { kind: "noop", queue: "bulk", payload: { n } };
}

test("a list of a million jobs opens within a second and scrolls", async ({ page, ganger, open }) => {
  test.setTimeout(30 * 60_000);
  await ganger.post("/v1/queues/bulk:pause");
  await ganger.import(waiting(MILLION));
  // Once to fill the browser's cache: what is measured is the list, not the download of the page.
  await open("jobs");
  await expect(rows(page, "Jobs").first()).toBeVisible();
  const opened: number[] = [];
  for (let n = 0; n < 5; n += 1) {
    await page.goto("about:blank");
    const begun = Date.now();
    await open("jobs");
    await expect(rows(page, "Jobs").first()).toBeVisible();
    opened.push(Date.now() - begun);
  }
  opened.sort((a, b) => a - b);
  const frames = await page.evaluate(async () => {
    const grid = document.querySelector('[role="grid"]');
    const scroller = grid && (grid.scrollHeight > grid.clientHeight ? grid : grid.parentElement);
    if (!scroller) throw new Error("there is no list");
    const gaps: number[] = [];
    let last = performance.now();
    const end = last + 5000;
    while (last < end) {
      scroller.scrollTop += 120;
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      gaps.push(now - last);
      last = now;
    }
    gaps.sort((a, b) => a - b);
    return { fps: Math.round((1000 * gaps.length) / gaps.reduce((sum, gap) => sum + gap, 0)), p95: gaps[Math.floor(gaps.length * 0.95)] };
  });
  console.log(`${MILLION} jobs: opened in ${opened[2]} ms (median of 5), ${frames.fps} frames a second while scrolling, p95 ${frames.p95?.toFixed(1)} ms`);
  expect(await rows(page, "Jobs").count()).toBeLessThanOrEqual(60);
  expect(opened[2]).toBeLessThan(1000);
});

test("a long run of many changes does not grow the heap", async ({ page, ganger, open }) => {
  test.setTimeout((MINUTES + 10) * 60_000);
  await open("jobs");
  await isLive(page);
  const heap = async () => {
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("HeapProfiler.collectGarbage");
    const { usedSize } = (await devtools.send("Runtime.getHeapUsage")) as { usedSize: number };
    await devtools.detach();
    return usedSize;
  };
  let sent = 0;
  const batch = Array.from({ length: Math.ceil(PER_SECOND / TRANSITIONS) }, (_, n) => ({ kind: "noop", queue: "soak", payload: n }));
  // A batch a second, and those that were late at once.
  const run = async (ms: number) => {
    const begun = Date.now();
    for (let next = begun; next < begun + ms; next += 1000) {
      await page.waitForTimeout(Math.max(0, next - Date.now()));
      await ganger.import(batch);
      sent += batch.length;
    }
  };
  // What every page needs once is there after a minute.
  await run(60_000);
  const before = await heap();
  const begun = Date.now();
  sent = 0;
  await run(MINUTES * 60_000);
  const grown = ((await heap()) - before) / MB;
  const rate = Math.round((TRANSITIONS * sent) / ((Date.now() - begun) / 1000));
  console.log(`${MINUTES} minutes, ${rate} transitions a second: the heap grew by ${grown.toFixed(1)} MB`);
  await isLive(page);
  // It was as much as was asked for, and all of it was worked off: a page at rest would prove nothing.
  expect(rate).toBeGreaterThan(PER_SECOND * 0.9);
  expect((await ganger.get("/v1/stats")).jobs.succeeded).toBeGreaterThan(sent * 0.9);
  expect(grown).toBeLessThan(30);
});
