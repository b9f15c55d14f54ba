/** Processes of a test: started in a directory of their own, and ended with it whatever happens. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const target = process.env["CARGO_TARGET_DIR"] ?? resolve(import.meta.dirname, "../../../target");
/** The binary under test. */
export const GANGER = process.env["GANGER_BIN"] ?? join(target, "debug/ganger");

/** How long anything may take to start, stop or happen. */
export const PATIENCE_MS = 60_000;

/** Waits until something holds; says what it waited for if it never does. */
export async function until<T>(what: string, look: () => Promise<T | undefined | false | null>, withinMs = PATIENCE_MS): Promise<T> {
  const end = Date.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > end) throw new Error(`waited ${withinMs / 1000} s for ${what}`);
    await new Promise((go) => setTimeout(go, 50));
  }
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  return new Promise((found, failed) => {
    const server = createServer();
    server.once("error", failed);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address ? address.port : 0;
      server.close(() => found(port));
    });
  });
}

/** A directory of a test's own. */
export async function directory(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "ganger-e2e-"));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** A running `ganger`. */
export class Running {
  #child: ChildProcess;
  #text = "";

  private constructor(child: ChildProcess) {
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8");
      // Enough to see why a test failed, and no more.
      stream?.on("data", (text: string) => (this.#text = (this.#text + text).slice(-64 * 1024)));
    }
  }

  static start(args: string[], env: Record<string, string> = {}, cwd = tmpdir()): Running {
    if (!existsSync(GANGER)) throw new Error(`${GANGER} is not there: build it with \`cargo build -p ganger\`, or set GANGER_BIN`);
    // Settings of whoever runs the tests must not reach what is tested.
    const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GANGER_")));
    const child = spawn(GANGER, args, { cwd, env: { ...clean, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    return new Running(child);
  }

  /** What it printed. */
  get text(): string {
    return this.#text;
  }

  get isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** As `kill -9` would. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async stop(): Promise<void> {
    await this.#end("SIGTERM");
  }

  /** Stops it where it is, as a machine that hangs. */
  freeze(): void {
    this.#child.kill("SIGSTOP");
  }

  thaw(): void {
    this.#child.kill("SIGCONT");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.isOver) return;
    const over = new Promise((go) => this.#child.once("exit", go));
    this.#child.kill(signal);
    const slow = setTimeout(() => this.#child.kill("SIGKILL"), 20_000);
    await over;
    clearTimeout(slow);
  }
}
