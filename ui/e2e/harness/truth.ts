/** Traffic, tabs that are opened under it, and what they show beside what the API answers. */
import type { Browser, BrowserContext, Page } from "@playwright/test";
import type { Ganger, Json } from "./ganger";
import { isLive, rows } from "./look";
import { until } from "./process";
import { expect } from "./test";

const PER_SECOND = 50;
const TICK_MS = 100;
/** So long after the last job ended, whatever a page shows is as the API says. */
const REST_MS = 2000;
/** How much later that may be on a machine with other things to do. */
const LATE_MS = 8000;
const QUEUE = "traffic";
const STATES = ["scheduled", "blocked", "queued", "running", "retrying", "succeeded", "dead", "cancelled"];

/** Fifty jobs a second of 50 to 2,000 ms, until it is stopped. */
class Traffic {
  #stop = new AbortController();
  #sent = 0;
  #over: Promise<void>;

  constructor(private readonly ganger: Ganger) {
    this.#over = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#over;
  }

  async #run(): Promise<void> {
    for (let next = Date.now(); !this.#stop.signal.aborted; next += TICK_MS) {
      const jobs = Array.from({ length: (PER_SECOND * TICK_MS) / 1000 }, () => {
        this.#sent += 1;
        return { kind: "sleep", queue: QUEUE, payload: { ms: 50 + ((this.#sent * 397) % 1951) }, retry: { base: "10ms", max: "10ms" } };
      });
      // A server that is being started again takes none.
      await this.ganger.import(jobs).catch(() => undefined);
      await new Promise((go) => setTimeout(go, Math.max(0, next + TICK_MS - Date.now())));
    }
  }
}

interface Place {
  /** Its address, chosen when it is opened: a job that runs now. */
  path: () => Promise<string>;
  /** What is shown there that is not as the API says. */
  differences: (page: Page) => Promise<string[]>;
}

function places(ganger: Ganger): Record<string, Place> {
  return {
    jobs: { path: async () => "jobs", differences: (page) => jobsDiffer(page, ganger) },
    job: {
      path: async () => {
        const running = await until("a job that runs", async () => (await ganger.get("/v1/jobs?q=state:running&limit=1").catch(() => undefined))?.items[0]);
        return `jobs/${running.id}`;
      },
      differences: (page) => jobDiffers(page, ganger),
    },
    queue: { path: async () => `queues/${QUEUE}`, differences: (page) => queueDiffers(page, ganger) },
    worker: {
      path: async () => {
        const worker = await until("a worker", async () => (await ganger.get("/v1/workers").catch(() => undefined))?.items.find((each: Json) => !each.local));
        return `workers/${worker.id}`;
      },
      differences: (page) => workerDiffers(page, ganger),
    },
    overview: { path: async () => "", differences: (page) => overviewDiffers(page, ganger) },
  };
}

const compared = (what: string, shown: unknown, is: unknown): string[] => (String(shown) === String(is) ? [] : [`${what} is shown as ${String(shown)}, and is ${String(is)}`]);

async function jobsDiffer(page: Page, ganger: Ganger): Promise<string[]> {
  const shown = await rows(page, "Jobs").evaluateAll((list) =>
    list.map((row) => ({ id: (row as HTMLElement).dataset["rowId"] ?? "", cells: [...row.querySelectorAll('[role="gridcell"]')].map((cell) => cell.textContent ?? "") })),
  );
  expect(shown.length).toBeGreaterThan(10);
  const { items } = await ganger.get(`/v1/jobs?limit=100&q=${encodeURIComponent(`id:${shown.map((row) => row.id).join(",")}`)}`);
  const is = new Map<string, Json>(items.map((job: Json) => [job.id, job]));
  const { jobs } = await ganger.get("/v1/stats");
  const all = STATES.reduce((sum, state) => sum + (jobs[state] ?? 0), 0);
  const tab = await page.getByRole("navigation", { name: "Jobs by state" }).getByRole("link", { name: /^All/ }).innerText();
  return [
    ...shown.flatMap(({ id, cells }) => {
      const job = is.get(id);
      const text = cells.join(" | ");
      return text.includes(job?.state) && text.includes(`${job?.attempts_used}/${job?.max_attempts}`) ? [] : [`${id} is shown as "${text}", and is ${job?.state} ${job?.attempts_used}/${job?.max_attempts}`];
    }),
    ...compared("the count of all jobs", digits(tab), all),
  ];
}

async function jobDiffers(page: Page, ganger: Ganger): Promise<string[]> {
  const id = /job_\w+/.exec(page.url())?.[0] ?? "";
  const job = await ganger.get(`/v1/jobs/${id}`);
  const head = await page.locator("main header").first().innerText();
  const runs = await page.getByText(/^Running for/).count();
  return [...compared(`the state of ${id}`, STATES.find((state) => head.includes(state)), job.state), ...compared(`"Running for" of ${id}`, runs > 0, job.state === "running")];
}

async function queueDiffers(page: Page, ganger: Ganger): Promise<string[]> {
  const { jobs } = await ganger.get(`/v1/queues/${QUEUE}`);
  const shown = await page.locator("main li a[href*='state']").evaluateAll((list) => list.map((item) => (item as HTMLElement).innerText));
  expect(shown.length).toBe(STATES.length);
  return STATES.flatMap((state) => compared(`jobs ${state} in the queue`, digits(shown.find((text) => text.includes(state)) ?? ""), jobs[state] ?? 0));
}

async function workerDiffers(page: Page, ganger: Ganger): Promise<string[]> {
  const id = decodeURIComponent(/workers\/([^/?]+)/.exec(page.url())?.[1] ?? "");
  const worker = await ganger.get(`/v1/workers/${id}`);
  const shown = await page.locator("main li a[href*='jobs/job_']").count();
  const listed = worker.left ? (worker.left.jobs ?? []).length : worker.leases.length;
  const used = await page.locator("main dd", { hasText: /^\d+ of \d+$/ }).first().innerText();
  return [...compared(`jobs of ${id}`, shown, listed), ...compared(`threads of ${id}`, used.trim(), `${worker.threads_used} of ${worker.threads}`)];
}

async function overviewDiffers(page: Page, ganger: Ganger): Promise<string[]> {
  const { jobs } = await ganger.get("/v1/stats");
  const { items } = await ganger.get("/v1/workers");
  const here = items.filter((worker: Json) => worker.state !== "lost" && worker.state !== "gone");
  const sum = (field: string) => here.reduce((all: number, worker: Json) => all + worker[field], 0);
  const backlog = await page.getByRole("region", { name: /^Backlog/ }).locator(".text-28").innerText();
  const fleet = await page.getByText(/threads in use/).first().innerText();
  return [
    ...compared("the backlog", digits(backlog), jobs.queued ?? 0),
    ...compared("threads in use", fleet.split(", lost")[0]?.replace(/, \d+ lost.*/, ""), `${here.length} connected, ${sum("threads_used")} of ${sum("threads")} threads in use`),
  ];
}

const digits = (text: string) => Number(/[\d,]+/.exec(text)?.[0].replaceAll(",", "") ?? Number.NaN);

/** So many times: traffic, tabs opened under it, perhaps something done to the server, and then no difference. */
export async function rounds(browser: Browser, ganger: Ganger, count: number, meanwhile?: () => Promise<void>): Promise<void> {
  await ganger.worker("alice", "--threads", "64");
  for (let round = 0; round < count; round += 1) {
    const traffic = new Traffic(ganger);
    const tabs = await openTabs(browser, ganger);
    await meanwhile?.();
    await traffic.stop();
    await agree(ganger, tabs);
    for (const { context } of tabs) await context.close();
  }
}

/** A browser of its own for each place, so that none finds a stream that another one opened. */
async function openTabs(browser: Browser, ganger: Ganger): Promise<{ name: string; page: Page; context: BrowserContext }[]> {
  const all = Object.entries(places(ganger));
  return Promise.all(
    all.map(async ([name, place], index) => {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: "en-GB", timezoneId: "UTC" });
      const page = await context.newPage();
      // Every place once, each tab in an order of its own, and its own place last.
      for (let n = 1; n < all.length; n += 1) {
        const [, other] = all[(index + n) % all.length] ?? ["", place];
        await page.goto(`${ganger.pageUrl}/ui/${await other.path()}`);
      }
      await page.goto(`${ganger.pageUrl}/ui/${await place.path()}`);
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      return { name, page, context };
    }),
  );
}

/** Traffic has stopped and everything has ended; then nothing is shown that is not so. */
async function agree(ganger: Ganger, tabs: readonly { name: string; page: Page }[]): Promise<void> {
  await until("the end of all jobs", async () => {
    const stats = await ganger.get("/v1/stats").catch(() => undefined);
    return stats && ["queued", "running", "retrying", "scheduled"].every((state) => !stats.jobs[state]);
  });
  await new Promise((go) => setTimeout(go, REST_MS));
  for (const { name, page } of tabs) {
    await isLive(page);
    // A busy machine may be late by a moment. What was lost stays lost for as long as somebody looks.
    const differences = async () => ((await places(ganger)[name]?.differences(page)) ?? []).map((text) => `${name}: ${text}`);
    await expect.poll(differences, { timeout: LATE_MS }).toEqual([]);
  }
}
