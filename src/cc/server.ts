/**
 * The compile server: a process that the first `banyan cc` leaves behind, because clang takes a second to load and a tenth of
 * one to compile. The server listens on a socket in the cache folder and ends after a minute without work.
 *
 * The main thread only passes messages; the tools run in threads, so the compile of a client that goes away can be ended, and a
 * tool that crashes harms nothing else. The process runs with V8's baseline compiler alone (see the client): clang is large and
 * each part of it runs briefly.
 *
 * Where the machine code of the tools was kept, they begin with that; where not, a server without work has it made for the next
 * (`machine-code`).
 *
 * Arguments: socket, lock, log, idle time in ms, cache folder, time in ms without work before machine code is made.
 */
import { chmodSync, readdirSync, rmSync, statSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { availableParallelism, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { describeSystemError } from "../core/base/system-error.ts";
import { Cache } from "./cache.ts";
import { compileClangModules } from "./clang-modules.ts";
import { readMessage, replyBounds, requestBounds, writeMessage } from "./frames.ts";
import { KeptCode } from "./machine-code/kept-code.ts";
import { Trainer } from "./machine-code/trainer.ts";
import { isRequest, type LinkRequest, type Reply, type ToolRequest } from "./requests.ts";
import { renewMs, ServerLock, unwritableCode } from "./server-lock.ts";
import { WorkerPool } from "./worker-pool.ts";

/** The memory of a thread with clang, about. */
const threadBytes = 512 * 2 ** 20;
const sweepMs = 10 * 60_000;
const leftoverMs = 24 * 60 * 60_000;

interface CompileServerOptions {
  readonly lock: ServerLock;
  readonly log: string;
  readonly idleMs: number;
  readonly cache: Cache;
  /** Not a number: never. */
  readonly trainAfterMs: number;
}

class CompileServer {
  readonly #lock: ServerLock;
  /** Kept only when the server does not end as it should. */
  readonly #log: string;
  readonly #idleMs: number;
  readonly #cache: Cache;
  readonly #pool: WorkerPool;
  readonly #server = createServer((socket) => void this.#serve(socket));
  readonly #trainer: Trainer;
  readonly #trainAfterMs: number;
  #connections = 0;
  #idle: NodeJS.Timeout | undefined;
  #training: NodeJS.Timeout | undefined;
  #stopping = false;

  constructor({ lock, log, idleMs, cache, trainAfterMs }: CompileServerOptions) {
    this.#lock = lock;
    this.#log = log;
    this.#idleMs = idleMs;
    this.#cache = cache;
    const threadsMax = Math.max(1, Math.min(availableParallelism(), Math.floor(totalmem() / 2 / threadBytes), 16));
    const kept = new KeptCode(cache);
    const modules = compileClangModules((bytes) => kept.module("clang", bytes));
    this.#pool = new WorkerPool({ modules, cacheFolder: cache.folder, threadsMax });
    this.#trainer = new Trainer(kept, [join(__dirname, "cc-training.cjs"), cache.folder]);
    this.#trainAfterMs = trainAfterMs;
  }

  listen(path: string): void {
    rmSync(path, { force: true });
    this.#server.on("error", (error) => this.#fail(error));
    this.#server.listen(path, () => chmodSync(path, 0o600));
    this.#startIdling();
    setInterval(() => {
      if (!this.#lock.renew()) this.#leave();
    }, renewMs).unref();
    setInterval(() => this.#cache.sweep(), sweepMs).unref();
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => this.#end());
  }

  async #serve(socket: Socket): Promise<void> {
    this.#connections++;
    clearTimeout(this.#idle);
    clearTimeout(this.#training);
    const gone = new AbortController();
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      gone.abort();
      this.#connections--;
      if (this.#connections === 0) this.#startIdling();
    });
    const request = await readMessage(socket, requestBounds);
    // No more input is expected; but a socket that is not read does not report its end.
    socket.resume();
    if (!isRequest(request)) socket.destroy();
    else if (request.kind === "stop") {
      this.#stopping = true;
      socket.end();
    } else {
      const reply = await this.#perform(request, gone.signal);
      writeMessage(socket, replyBounds, reply);
      socket.end();
    }
  }

  async #perform(request: ToolRequest, signal: AbortSignal): Promise<Reply> {
    const job = this.#pool.perform(request, signal);
    // Loading Binaryen takes half a second, which a free processor can spend while clang is at work.
    if (request.kind !== "ask") this.#pool.warmUp("binaryen");
    const reply = await job;
    return request.kind === "link" ? await this.#finish(request, reply, signal) : reply;
  }

  async #finish({ finish }: LinkRequest, linked: Reply, signal: AbortSignal): Promise<Reply> {
    if (linked.kind !== "done" || linked.code !== 0 || finish === undefined) return linked;
    const made = await this.#pool.perform({ kind: "instrument", module: linked.output, finish }, signal);
    return made.kind === "done" ? { ...made, stderr: linked.stderr } : made;
  }

  #startIdling(): void {
    clearTimeout(this.#idle);
    clearTimeout(this.#training);
    this.#idle = setTimeout(() => this.#endUnlessTraining(), this.#stopping ? 0 : this.#idleMs);
    if (this.#stopping || !Number.isFinite(this.#trainAfterMs)) return;
    this.#training = setTimeout(() => this.#trainer.start(() => this.#trained()), this.#trainAfterMs);
  }

  #trained(): void {
    if (this.#connections === 0) this.#startIdling();
  }

  /** A training goes on while there is no work; it ends when the server is told to end. */
  #endUnlessTraining(): void {
    if (this.#stopping || !this.#trainer.isAtWork) this.#end();
  }

  /**
   * Closing removes the socket's name; a client that connected at the last moment is disconnected and starts another server.
   */
  #end(): void {
    this.#trainer.stop();
    if (!this.#lock.renew()) this.#leave();
    this.#server.close();
    this.#cache.sweep();
    rmSync(this.#log, { force: true });
    this.#lock.release();
    process.exit(0);
  }

  /**
   * The socket's name belongs to another server by now: none of its files may be touched. Clients of this server finish first.
   */
  #leave(): void {
    if (this.#connections === 0) process.exit(0);
  }

  #fail(error: Error): never {
    console.error(`Cannot serve: ${error.message}`);
    this.#lock.release();
    process.exit(1);
  }
}

/** Files of servers that were killed long ago: no server of their version comes to replace them. */
function tidy(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
    if (Date.now() - mtimeMs > leftoverMs) rmSync(path, { force: true });
  }
}

function main([socket, lockPath, log, idleMs, cacheFolder, trainAfterMs]: readonly string[]): void {
  process.umask(0o077);
  const lock = takeLock(lockPath!);
  if (lock === undefined) return;
  process.title = "banyan-cc";
  tidy(dirname(lockPath!));
  const cache = new Cache(cacheFolder!);
  const times = { idleMs: Number(idleMs), trainAfterMs: Number(trainAfterMs) };
  new CompileServer({ lock, log: log!, cache, ...times }).listen(socket!);
}

function takeLock(path: string): ServerLock | undefined {
  try {
    return ServerLock.take(path);
  } catch (error) {
    console.error(`Cannot serve: ${path} cannot be written: ${describeSystemError(error)}`);
    process.exit(unwritableCode);
  }
}

main(process.argv.slice(2));
