/** Something of everything, so that no page is empty: for looking at pages, not for counting. */
import type { Ganger, Json } from "./ganger";

/** What there is to look at afterwards. */
export interface Demo {
  /** A dead job with several attempts. */
  dead: string;
  running: string;
  fingerprint: string;
  worker: string;
  operation: string;
}

const CUSTOMERS = ["acme", "globex", "initech", "umbrella"];
const FAILURES = ["connection to smtp.example.com:587 timed out", "unexpected status 503 from payments", "no such template: welcome_v3"];

export async function demo(ganger: Ganger): Promise<Demo> {
  await ganger.worker("media-1", "--queue", "media", "--threads", "4");
  await ganger.put("/v1/schedules/nightly-report", { cron: "0 3 * * *", time_zone: "Europe/Paris", job: { kind: "echo", queue: "reports", payload: { report: "sales" } } });
  await ganger.put("/v1/schedules/heartbeat", { every: "15m", job: { kind: "noop", queue: "default" } });
  const jobs: unknown[] = [];
  for (let n = 0; n < 240; n += 1) {
    const customer = CUSTOMERS[n % CUSTOMERS.length];
    jobs.push({ kind: "echo", queue: "mail", payload: { to: `user${n}@${customer}.example`, order: 1000 + n }, tags: ["demo", String(customer)] });
    if (n % 3 === 0) jobs.push({ kind: "sleep", queue: "media", payload: { ms: 5 + (n % 40) } });
    if (n % 8 === 0) jobs.push({ kind: "fail", queue: "billing", payload: { times: 9, message: FAILURES[(n / 8) % FAILURES.length] }, max_attempts: 2, retry: { base: "1ms", max: "1ms" } });
    if (n % 20 === 0) jobs.push({ kind: "noop", queue: "reports", delay: "2h", tags: [n % 40 === 0 ? "monthly" : "weekly"] });
  }
  await ganger.import(jobs);
  await ganger.counts("queue:billing state:dead", 30);
  await ganger.put("/v1/queues/media", { limits: { max_running: 3 } });
  const slow = await ganger.post("/v1/jobs", { kind: "sleep", queue: "media", payload: { seconds: 600 } });
  for (let n = 0; n < 12; n += 1) await ganger.post("/v1/jobs", { kind: "sleep", queue: "media", payload: { seconds: 600 }, priority: n % 3 });
  await ganger.counts("state:running", 3);
  await ganger.counts("queue:mail state:succeeded", 240);
  const { items: dead } = await ganger.get("/v1/jobs?state=dead&limit=1");
  const { items: groups } = await ganger.get("/v1/failures");
  const { items: workers } = await ganger.get("/v1/workers");
  const operation = await ganger.post("/v1/operations", { action: "cancel", filter: "queue:reports tag:monthly", reason: "monthly reports have moved" });
  await ganger.counts("queue:reports state:cancelled", 6);
  for (let n = 0; n < 6; n += 1) await ganger.post("/v1/schedules/heartbeat:run");
  await ganger.counts("schedule:heartbeat state:succeeded", 6);
  await ganger.put("/v1/views/dead-mails", { query: "queue:mail state:dead" });
  return {
    dead: dead[0].id,
    running: slow.id,
    fingerprint: groups[0].fingerprint,
    worker: workers.find((worker: Json) => worker.name === "media-1").id,
    operation: operation.id,
  };
}

/** Every page, by name. */
export function pages(shown: Demo): Record<string, string> {
  return {
    overview: "",
    jobs: "jobs",
    job: `jobs/${shown.dead}`,
    "job-running": `jobs/${shown.running}`,
    failures: "failures",
    failure: `failures/${shown.fingerprint}`,
    queues: "queues",
    queue: "queues/media",
    schedules: "schedules",
    schedule: "schedules/nightly-report",
    workers: "workers",
    worker: `workers/${shown.worker}`,
    operations: "operations",
    operation: `operations/${shown.operation}`,
    kinds: "kinds",
    analytics: "analytics",
    submit: "submit?kind=resize_image",
    system: "system",
  };
}
