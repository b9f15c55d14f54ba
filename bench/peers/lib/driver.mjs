// What every driver for Node shares: the settings, the payload, the tally of what was handled, and the lines that are printed.
// The contract is in bench/README.md.
import { writeSync } from "node:fs";

const number = (name, fallback) => {
  const value = Number(process.env[name] ?? fallback);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${name} must be a whole number of at least 1`);
  return value;
};

export const settings = {
  store: process.env.BENCH_STORE ?? "",
  jobs: number("BENCH_JOBS", 10_000),
  payloadBytes: number("BENCH_PAYLOAD_BYTES", 100),
  concurrency: number("BENCH_CONCURRENCY", 8),
  batch: number("BENCH_BATCH", 1_000),
  batchClients: number("BENCH_BATCH_CLIENTS", 4),
  clients: number("BENCH_CLIENTS", 8),
  pings: number("BENCH_PINGS", 100),
  intervalMs: number("BENCH_INTERVAL_MS", 100),
};

/** Pings before the ones that count: connections, prepared statements and the compiler are warm then. */
const WARM_UP = 10;
/** The last of the wait for a tick, for which the driver does not sleep. */
const AWAKE_MS = 3;
/** Without any progress for this long something is wrong. */
const STUCK_MS = 60_000;

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const say = (line) => writeSync(1, JSON.stringify(line) + "\n");

/** An object of exactly the asked size as JSON, with the number of its job in it. */
export function payload(n) {
  const bare = JSON.stringify({ n, p: "" }).length;
  return { n, p: "x".repeat(Math.max(0, settings.payloadBytes - bare)) };
}

/** The jobs from `first` on, in requests of `settings.batch`. */
function* batches(jobs) {
  for (let first = 0; first < jobs; first += settings.batch) {
    yield Array.from({ length: Math.min(settings.batch, jobs - first) }, (_, i) => payload(first + i));
  }
}

/** Sends every job in batches, `settings.batchClients` requests at a time. */
async function inBatches(send) {
  const all = batches(settings.jobs);
  const client = async (nth) => {
    for (const some of all) await send(some, nth);
  };
  await Promise.all(Array.from({ length: settings.batchClients }, (_, nth) => client(nth)));
}

/** How often each job was handled. The clock starts with the first. */
class Tally {
  seen = new Uint8Array(settings.jobs);
  handled = 0;
  began = 0;

  hit(n) {
    if (this.handled === 0) {
      this.began = performance.now();
      say({ mark: "begin" });
    }
    this.handled += 1;
    this.seen[n] += 1;
  }

  check() {
    const wrong = this.seen.findIndex((times) => times !== 1);
    if (wrong >= 0) throw new Error(`job ${wrong} was handled ${this.seen[wrong]} times`);
  }
}

async function until(what, progress, done) {
  let [last, since] = [progress(), performance.now()];
  while (!(await done())) {
    await sleep(5);
    const now = progress();
    if (now !== last) [last, since] = [now, performance.now()];
    else if (performance.now() - since > STUCK_MS) throw new Error(`${what}: stuck at ${now}`);
  }
}

/** Starts a worker and waits until no job is left in the store: a handler that returned is not enough. */
async function work(peer) {
  const tally = new Tally();
  const stop = await peer.worker((n) => tally.hit(n), "drain");
  await until("handled", () => tally.handled, () => tally.handled >= settings.jobs);
  await until("left", () => tally.handled, async () => (await peer.left()) === 0);
  const seconds = (performance.now() - tally.began) / 1000;
  say({ mark: "end" });
  await stop();
  tally.check();
  return { jobs: settings.jobs, seconds, verified: "each_once" };
}

async function timed(send) {
  say({ mark: "begin" });
  const began = performance.now();
  await send();
  const seconds = (performance.now() - began) / 1000;
  say({ mark: "end" });
  return seconds;
}

async function enqueued(peer, seconds) {
  const found = await peer.left();
  if (found !== settings.jobs) throw new Error(`${found} of ${settings.jobs} jobs are in the store`);
  return { jobs: settings.jobs, seconds, verified: "counted" };
}

async function batch(peer) {
  await peer.clients?.(settings.batchClients);
  return enqueued(peer, await timed(() => inBatches((some, nth) => peer.sendMany(some, nth))));
}

/** Each client has a connection of its own and waits for its answer before it sends the next. */
async function single(peer) {
  await peer.clients?.(settings.clients);
  let next = 0;
  const client = async (nth) => {
    for (let n = next++; n < settings.jobs; n = next++) await peer.send(payload(n), nth);
  };
  const all = () => Promise.all(Array.from({ length: settings.clients }, (_, nth) => client(nth)));
  return enqueued(peer, await timed(all));
}

/** One job at each tick of a fixed schedule; its start is taken against the tick, not against the moment it was sent. */
async function ping(peer) {
  const total = WARM_UP + settings.pings;
  const [due, started] = [new Float64Array(total), new Float64Array(total)];
  let handled = 0;
  const stop = await peer.worker((n) => {
    started[n] = performance.now();
    handled += 1;
  }, "ping");
  await peer.clients?.(1);
  await sleep(500);
  const first = performance.now() + settings.intervalMs;
  for (let n = 0; n < total; n++) {
    due[n] = first + n * settings.intervalMs;
    await sleep(Math.max(0, due[n] - performance.now() - AWAKE_MS));
    // The last of it is waited out awake, as by every driver: a timer of Node is a millisecond late.
    while (performance.now() < due[n]) await new Promise(setImmediate);
    if (n === WARM_UP) say({ mark: "begin" });
    await peer.send(payload(n), 0);
  }
  await until("started", () => handled, () => handled >= total);
  say({ mark: "end" });
  await stop();
  const starts = [];
  for (let n = WARM_UP; n < total; n++) starts.push(Math.round((started[n] - due[n]) * 1000));
  return { jobs: settings.pings, seconds: (settings.pings * settings.intervalMs) / 1000, starts_us: starts };
}

/** Runs the action that the command line names. */
export async function drive(peer) {
  const action = process.argv[2];
  const actions = {
    prepare: async () => (await peer.prepare?.()) ?? {},
    load: async () => {
      await peer.clients?.(settings.batchClients);
      await inBatches((some, nth) => peer.sendMany(some, nth));
      return enqueued(peer, 0);
    },
    work: () => work(peer),
    batch: () => batch(peer),
    single: () => single(peer),
    ping: () => ping(peer),
  };
  if (!(action in actions)) {
    console.error(`usage: driver ${Object.keys(actions).join("|")}, settings in BENCH_… (see bench/README.md)`);
    process.exit(2);
  }
  const result = await actions[action]();
  await peer.close?.();
  say({ ...result, action });
  process.exit(0);
}
