// pg-boss on PostgreSQL: batches, fetched in bursts for the drain; LISTEN and NOTIFY for the ping.
import pg from "pg";
import { PgBoss } from "pg-boss";

import { drive, settings } from "../lib/driver.mjs";

const QUEUE = "noop";
const pool = new pg.Pool({ connectionString: settings.store, max: 1 });
const boss = new PgBoss({
  connectionString: settings.store,
  max: Math.max(settings.clients, settings.batchClients, settings.concurrency) + 2,
  useListenNotify: process.argv[2] === "ping",
  schedule: false,
});
boss.on("error", (error) => console.error(error));
await boss.start();

// Batches for the drain; one job at a time for the ping, woken by a notification.
const plans = {
  drain: { batchSize: 1000, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5, localConcurrency: settings.concurrency },
  ping: { batchSize: 1, pollingIntervalSeconds: 0.5 },
};

await drive({
  prepare: () => boss.createQueue(QUEUE, { notify: true }),
  sendMany: (some) => boss.insert(QUEUE, some.map((one) => ({ data: one }))),
  send: (one) => boss.send(QUEUE, one),
  left: async () => {
    const found = await pool.query("SELECT count(*)::int AS jobs FROM pgboss.job WHERE name = $1 AND state < 'completed'", [QUEUE]);
    return found.rows[0].jobs;
  },
  worker: async (handle, aim) => {
    await boss.work(QUEUE, plans[aim], async (jobs) => {
      for (const job of jobs) handle(job.data.n);
    });
    return () => boss.offWork(QUEUE);
  },
  close: () => boss.stop({ graceful: false }),
});
