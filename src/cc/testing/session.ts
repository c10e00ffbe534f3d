/**
 * For tests that compile: a folder for sources, a cache of its own, and `banyan cc` as a user calls it. The session ends the
 * servers that were started.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export const launcher = join(process.cwd(), "bin/banyan.js");

interface CommandEnded {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

export class Session {
  readonly folder = mkdtempSync(join(tmpdir(), "banyan-cc-"));
  readonly cache: string;
  readonly #caches = new Set<string>();
  readonly env: NodeJS.ProcessEnv;

  constructor() {
    this.cache = this.newCache("cache");
    this.env = { ...process.env, BANYAN_CACHE: this.cache };
    delete this.env["NODE_TEST_CONTEXT"];
    // Its servers compile a few programs each.
    delete this.env["BANYAN_CC_FOR_LONG"];
  }

  newCache(name: string): string {
    const folder = join(this.folder, name);
    this.#caches.add(folder);
    return folder;
  }

  /** Writes sources; names may contain folders. Returns the folder. */
  write(name: string, files: Readonly<Record<string, string>>): string {
    const folder = join(this.folder, name);
    mkdirSync(folder, { recursive: true });
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return folder;
  }

  start(cwd: string, words: readonly string[], env: NodeJS.ProcessEnv = {}) {
    return spawn(process.execPath, [launcher, ...words], { cwd, env: { ...this.env, ...env } });
  }

  run(cwd: string, words: string, { stdin = "", env = {} as NodeJS.ProcessEnv } = {}): Promise<CommandEnded> {
    const startMs = performance.now();
    const child = this.start(cwd, words.split(" "), env);
    child.stdin.end(stdin);
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
    return new Promise((resolve) =>
      child.on("close", (code) => resolve({ code, stdout, stderr, ms: performance.now() - startMs })),
    );
  }

  /** Living compile servers of a cache, and candidates: their output goes to a file there. */
  servers(cache: string = this.cache): number[] {
    return readdirSync("/proc")
      .filter((entry) => /^\d+$/.test(entry))
      .filter((pid) => outputOf(pid)?.startsWith(join(cache, "cc/server")))
      .map(Number);
  }

  /** A real SIGKILL; returns when the processes are gone. */
  async killServers(cache: string = this.cache): Promise<void> {
    for (const pid of this.servers(cache)) process.kill(pid, "SIGKILL");
    while (this.servers(cache).length > 0) await sleep(10);
  }

  async end(): Promise<void> {
    for (const cache of this.#caches) await this.killServers(cache);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function outputOf(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/fd/1`);
  } catch {
    return undefined;
  }
}

/** A command for building other commands. */
export function make(cwd: string, words: readonly string[], env: NodeJS.ProcessEnv): CommandEnded {
  const startMs = performance.now();
  const { status, stdout, stderr } = spawnSync("make", words, { cwd, env, encoding: "utf8" });
  return { code: status, stdout, stderr, ms: performance.now() - startMs };
}
