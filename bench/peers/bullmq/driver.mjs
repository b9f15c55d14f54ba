// BullMQ on Redis: one worker with many jobs at a time, jobs removed when they are done.
import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";

import { drive, settings } from "../lib/driver.mjs";

const NAME = "noop";
const connect = () => new Redis(settings.store, { maxRetriesPerRequest: null });
const options = { removeOnComplete: true, removeOnFail: true };
const open = () => new Queue(NAME, { connection: connect(), defaultJobOptions: options });
const queues = [open()];

await drive({
  clients: async (count) => {
    while (queues.length < count) queues.push(open());
    await Promise.all(queues.map((queue) => queue.waitUntilReady()));
  },
  sendMany: (some, nth) => queues[nth].addBulk(some.map((data) => ({ name: NAME, data }))),
  send: (one, nth) => queues[nth].add(NAME, one),
  left: async () => {
    const counts = await queues[0].getJobCounts("waiting", "active", "prioritized", "delayed");
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  },
  worker: async (handle) => {
    const worker = new Worker(NAME, async (job) => handle(job.data.n), {
      connection: connect(),
      concurrency: settings.concurrency,
    });
    worker.on("error", (error) => console.error(error));
    await worker.waitUntilReady();
    return () => worker.close();
  },
});
