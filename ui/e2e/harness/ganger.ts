/** A real server with real workers, for one test. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { directory, freePort, Running, until } from "./process";

export interface GangerOptions {
  /** Asks who calls; the first token is then in `token`. */
  auth?: boolean;
  /** What the installation is called. */
  label?: string;
  /** Without workers: jobs wait. */
  workers?: boolean;
}

// oxlint-disable-next-line typescript/no-explicit-any -- Tests look into answers of any shape.
export type Json = any;

export class Ganger {
  #server: Running;
  #dist: ChildProcess | undefined;
  /** Where the page is: at the server, or before it, where somebody tries a page that is not in a binary yet. */
  pageUrl: string;
  #workers = new Map<string, Running>();

  private constructor(
    server: Running,
    readonly url: string,
    readonly data: string,
    private readonly args: string[],
    private readonly env: Record<string, string>,
    private readonly remove: () => Promise<void>,
    /** Of an administrator, where callers are asked. */
    readonly token: string,
  ) {
    this.#server = server;
    this.pageUrl = url;
  }

  /** Serves `ui/dist` before the server (`GANGER_UI=dist`): no binary has to be built to try a change of the page. */
  async #serveDist(): Promise<void> {
    const port = await freePort();
    const script = resolve(import.meta.dirname, "../../scripts/serve.mjs");
    this.#dist = spawn("node", [script, this.url, String(port)], { stdio: "ignore" });
    this.pageUrl = `http://127.0.0.1:${port}`;
    await until("the page", () => fetch(`${this.pageUrl}/ui/`).then((answer) => answer.ok, () => false));
  }

  static async start(options: GangerOptions = {}): Promise<Ganger> {
    const { path, remove } = await directory();
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const asks = options.auth ?? false;
    const local = (options.workers ?? true) && !asks;
    const args = local
      ? ["dev", "--listen", `127.0.0.1:${port}`, "--data", join(path, "data"), "--worker", "4"]
      : ["server", "--listen", `127.0.0.1:${port}`, "--data", join(path, "data"), "--auth", asks ? "on" : "off"];
    const env = options.label ? { GANGER_ENV_LABEL: options.label } : ({} as Record<string, string>);
    const server = Running.start(args, env, path);
    try {
      await ready(server, url);
      const token = asks ? await until("the first token", () => firstToken(path)) : "";
      const ganger = new Ganger(server, url, path, args, env, remove, token);
      if (process.env["GANGER_UI"] === "dist") await ganger.#serveDist();
      return ganger;
    } catch (error) {
      await server.kill();
      await remove();
      throw error;
    }
  }

  /** A worker process of its own. It is noticed to be lost within seconds. */
  async worker(name: string, ...args: string[]): Promise<void> {
    const env: Record<string, string> = this.token ? { GANGER_TOKEN: this.token } : {};
    const worker = Running.start(["worker", "start", "--url", this.url, "--name", name, "--ttl", "2s", ...args], env, this.data);
    this.#workers.set(name, worker);
    await until(`worker ${name}`, async () => {
      if (worker.isOver) throw new Error(`worker ${name} ended:\n${worker.text}`);
      const { items } = await this.get("/v1/workers");
      return items.some((item: Json) => item.name === name && ["available", "busy"].includes(item.state));
    });
  }

  async killWorker(name: string): Promise<void> {
    await this.#workers.get(name)?.kill();
  }

  /** The server is gone, as after `kill -9`. */
  async kill(): Promise<void> {
    await this.#server.kill();
  }

  /** The server hangs: its connections stay open, and nothing comes through them. */
  freeze(): void {
    this.#server.freeze();
  }

  thaw(): void {
    this.#server.thaw();
  }

  /** The same server again: same port, same data. */
  async restart(): Promise<void> {
    await this.#server.kill();
    this.#server = Running.start(this.args, this.env, this.data);
    await ready(this.#server, this.url);
  }

  /** Stops everything, and forgets it. */
  async stop(): Promise<void> {
    this.#dist?.kill("SIGKILL");
    await Promise.all([...this.#workers.values()].map((worker) => worker.kill()));
    await this.#server.kill();
    await this.remove();
  }

  /** What the server printed. */
  get log(): string {
    return this.#server.text;
  }

  async get(path: string): Promise<Json> {
    return this.#ask("GET", path);
  }

  async post(path: string, body: unknown = {}): Promise<Json> {
    return this.#ask("POST", path, JSON.stringify(body));
  }

  async put(path: string, body: unknown): Promise<Json> {
    return this.#ask("PUT", path, JSON.stringify(body));
  }

  /** Takes in any number of jobs. */
  async import(jobs: Iterable<unknown>): Promise<void> {
    let lines: string[] = [];
    const send = async () => {
      if (lines.length > 0) await this.#ask("POST", "/v1/jobs:import", `${lines.join("\n")}\n`, "application/x-ndjson");
      lines = [];
    };
    for (const job of jobs) {
      lines.push(JSON.stringify(job));
      if (lines.length === 20_000) await send();
    }
    await send();
  }

  /** Waits until so many jobs match a filter. */
  async counts(q: string, wanted: number): Promise<void> {
    let seen = -1;
    await until(`${wanted} jobs of \`${q}\``, async () => {
      seen = (await this.get(`/v1/jobs:histogram?buckets=1&q=${encodeURIComponent(q)}`)).matched;
      return seen === wanted;
    }).catch((error: Error) => {
      throw new Error(`${error.message}; there are ${seen}`);
    });
  }

  async #ask(method: string, path: string, body?: string, type = "application/json"): Promise<Json> {
    const headers: Record<string, string> = { accept: "application/json" };
    if (body !== undefined) headers["content-type"] = type;
    if (this.token) headers["authorization"] = `Bearer ${this.token}`;
    const answer = await fetch(this.url + path, { method, headers, ...(body === undefined ? {} : { body }) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  }
}

async function ready(server: Running, url: string): Promise<void> {
  await until("the server", async () => {
    if (server.isOver) throw new Error(`the server ended:\n${server.text}`);
    return fetch(`${url}/readyz`).then((answer) => answer.ok, () => false);
  });
}

async function firstToken(path: string): Promise<string> {
  return readFile(join(path, "data/admin-token"), "utf8").then((text) => text.trim(), () => "");
}
