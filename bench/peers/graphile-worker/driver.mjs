// graphile-worker on PostgreSQL, with the local queue and the batches of its documentation of performance.
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";

import { drive, settings } from "../lib/driver.mjs";

const logger = new Logger(() => (level, message) => {
  if (level === "error" || level === "warning") console.error(message);
});
const TASK = "noop";
const pool = new pg.Pool({ connectionString: settings.store, max: Math.max(settings.clients, settings.batchClients) + 1 });
pool.on("error", (error) => console.error(error));
pool.on("connect", (client) => client.on("error", (error) => console.error(error)));
const utils = await makeWorkerUtils({ pgPool: pool, logger });

const localQueue = Number(process.env.BENCH_LOCAL_QUEUE ?? 2000);
// Batches for the drain. For the ping no job is waited for to fill one.
const presets = {
  drain: { localQueue: { size: localQueue, refetchDelay: { durationMs: 10 } }, completeJobBatchDelay: 0, failJobBatchDelay: 0 },
  ping: {},
};

await drive({
  prepare: () => utils.migrate(),
  sendMany: (some) => utils.addJobs(some.map((one) => ({ identifier: TASK, payload: one }))),
  send: (one) => utils.addJob(TASK, one),
  left: async () => {
    const found = await pool.query("SELECT count(*)::int AS jobs FROM graphile_worker._private_jobs");
    return found.rows[0].jobs;
  },
  worker: async (handle, aim) => {
    const worker = {
      connectionString: settings.store,
      concurrentJobs: settings.concurrency,
      // Few connections do: jobs are fetched and completed in batches.
      maxPoolSize: Math.min(settings.concurrency + 1, 25),
      pollInterval: 2000,
      ...presets[aim],
    };
    const taskList = { [TASK]: (job) => handle(job.n) };
    const runner = await run({ preset: { worker: { ...worker, logger } }, taskList, noHandleSignals: true });
    return () => runner.stop();
  },
  close: () => utils.release(),
});
