/**
 * Sends requests to the compile server, and starts one when there is none. A client that finds no listener starts a candidate;
 * of several candidates all but one end at once, because they do not get the lock.
 */
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { createConnection, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describeSystemError } from "../core/base/system-error.ts";
import { Silence } from "../core/service/silence.ts";
import { ProcessWork } from "../real/machine/process-work.ts";
import { flagsFor } from "../v8/flags.ts";
import { readMessage, replyBounds, requestBounds, writeMessage } from "./frames.ts";
import { type CompilerRequest, isReply, type Reply, type ToolRequest } from "./requests.ts";
import { isLockHeld, lockHolder, unwritableCode } from "./server-lock.ts";
import { type CompileServerPlace, distrustServer, prepareFolder } from "./server-place.ts";

/** Runs clang, the linker and Binaryen; its user need not know where. */
export interface Tools {
  /** The signal cancels the request. Fails with `CannotCompile` when the tools cannot be reached. */
  run(request: ToolRequest, signal?: AbortSignal): Promise<Reply>;
}

/** Compiling is impossible; the message says why. */
export class CannotCompile extends Error {
  override readonly name = "CannotCompile";
}

/** A minute: the pauses of a programmer who edits and compiles in turn. */
export const idleMsDefault = 60_000;
/** Longer than make pauses between two compiles. */
export const trainAfterMsDefault = 10_000;
const pollMs = 15;
/** Starting takes a tenth of a second, and a lock is stale after 15 s. */
const startPatienceDefault: StartPatience = { idleMs: 40_000, atWorkMs: 800_000 };
/** A client that did not run itself cannot claim that a server was silent: longer steps do not count. */
const stepMsMax = 10 * pollMs;
/** A server that ends in the middle of a request is replaced, but not for ever. */
const attemptsMax = 3;

interface ServerClientOptions {
  readonly place: CompileServerPlace;
  /** The server's program. */
  readonly server: string;
  /** Packages that the server needs, with their versions: users may have left them out. */
  readonly packages?: Readonly<Record<string, string>>;
  readonly cacheFolder: string;
  readonly idleMs?: number;
  /** Without work for that long a server that this client starts may make machine code to be kept. */
  readonly trainAfterMs?: number;
  /** A server that this client starts will compile dozens of programs. */
  readonly isForLong?: boolean;
  readonly startPatience?: StartPatience;
}

/** The patience with a server that starts. On a busy machine it starts late, which is no failure. */
interface StartPatience {
  /** Without visible work: the operating system does not see the server compute. */
  readonly idleMs: number;
  /** In all. A server that computes for longer and still does not listen hangs. */
  readonly atWorkMs: number;
}

export class ServerClient implements Tools {
  readonly #options: ServerClientOptions;

  constructor(options: ServerClientOptions) {
    this.#options = options;
  }

  async run(request: ToolRequest, signal?: AbortSignal): Promise<Reply> {
    for (let attempt = 1; ; attempt++) {
      const socket = await this.#connect(signal);
      const reply = await exchange(socket, request, signal);
      signal?.throwIfAborted();
      if (isReply(reply)) return reply;
      if (attempt === attemptsMax) throw new CannotCompile(`Cannot compile: ${this.#serverEnded()}`);
    }
  }

  /** Ends the server, if there is one, as soon as it is idle. */
  async stop(): Promise<void> {
    const { place } = this.#options;
    const socket = distrustServer(place) === undefined ? await connectTo(place.socket) : undefined;
    if (socket !== undefined) await exchange(socket, { kind: "stop" });
  }

  async #connect(signal: AbortSignal | undefined): Promise<Socket> {
    const { place, startPatience = startPatienceDefault } = this.#options;
    let candidate: Candidate | undefined;
    const start = new ServerStart(startPatience);
    do {
      signal?.throwIfAborted();
      const wrong = distrustServer(place);
      if (wrong !== undefined) throw unusable("use", wrong);
      const socket = await connectTo(place.socket);
      if (socket !== undefined) return socket;
      if (candidate?.code === unwritableCode) throw unusable("start", `${place.folder} cannot be written to`);
      if (candidate?.code) throw new CannotCompile(`Cannot start the compile server: ${this.#serverEnded()}`);
      if ((candidate === undefined || candidate.code !== undefined) && !isLockHeld(place.lock)) {
        candidate = this.#startCandidate();
      }
      await sleep(pollMs);
    } while (!start.hangs(lockHolder(place.lock) ?? candidate?.pid));
    throw new CannotCompile(
      `Cannot reach the compile server at ${place.socket}: it did not answer in ${start.seconds} s`,
    );
  }

  #startCandidate(): Candidate {
    const { place, server, packages = {}, cacheFolder, idleMs = idleMsDefault } = this.#options;
    const { trainAfterMs = trainAfterMsDefault, isForLong = false } = this.#options;
    const missing = Object.entries(packages).filter(([name]) => !isInstalled(name, server));
    if (missing.length > 0) {
      const names = missing.map(([name]) => name).join(", ");
      const words = missing.map(([name, version]) => `${name}@${version}`).join(" ");
      throw new CannotCompile(
        `Cannot compile: packages of the compiler are not installed (${names}); get them with: npm install ${words}`,
      );
    }
    const wrong = prepareFolder(place.folder);
    if (wrong !== undefined) throw unusable("start", wrong);
    const log = openLog(place.log);
    const flags = flagsFor(isForLong ? "run the compiler for long" : "run the compiler");
    const words = [...flags, server, place.socket, place.lock, place.log, `${idleMs}`, cacheFolder, `${trainAfterMs}`];
    // With an empty environment: the server outlives this process and serves others.
    const { PATH, HOME, TMPDIR } = process.env;
    const env = Object.fromEntries(Object.entries({ PATH, HOME, TMPDIR }).filter(([, value]) => value !== undefined));
    const child = spawn(process.execPath, words, { detached: true, stdio: ["ignore", log, log], cwd: "/", env });
    closeSync(log);
    const candidate: Candidate = { pid: child.pid, code: undefined };
    child.on("exit", (code) => (candidate.code = code ?? 1));
    child.on("error", () => (candidate.code = 1));
    child.unref();
    return candidate;
  }

  #serverEnded(): string {
    let log = "";
    try {
      log = readFileSync(this.#options.place.log, "utf8");
    } catch {
      // Then there is nothing to report.
    }
    const last = log
      .split("\n")
      .filter((line) => line.trim() !== "" && !line.endsWith(" started"))
      .at(-1);
    return `it ended before it answered${last ? ` (${last})` : ""}; ${this.#options.place.log} may tell more`;
  }
}

function isInstalled(name: string, from: string): boolean {
  try {
    createRequire(from).resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** Writes a line at once: a server on a full disk could not even report that. */
function openLog(path: string): number {
  try {
    const log = openSync(path, "a", 0o600);
    try {
      writeSync(log, `${new Date().toISOString()} started\n`);
    } catch (error) {
      closeSync(log);
      throw error;
    }
    return log;
  } catch (error) {
    throw unusable("start", `${path} cannot be written: ${describeSystemError(error)}`);
  }
}

const unusable = (what: "start" | "use", why: string): CannotCompile =>
  new CannotCompile(`Cannot ${what} the compile server: ${why}; BANYAN_CACHE may name another folder`);

interface Candidate {
  readonly pid: number | undefined;
  /** Undefined while the server runs; 0 when another one serves. */
  code: number | undefined;
}

/** Watches a server that starts. */
class ServerStart {
  readonly #silence: Silence;
  #pid: number | undefined;
  #work: ProcessWork | undefined;
  #lookedMs = performance.now();

  constructor({ idleMs, atWorkMs }: StartPatience) {
    this.#silence = new Silence({
      patienceMs: idleMs,
      starvedPatienceMs: atWorkMs,
      startPatienceMs: idleMs,
      starvedStartPatienceMs: atWorkMs,
    });
  }

  /** True: stop waiting. `pid` is the process that is to serve, if there is one. */
  hangs(pid: number | undefined): boolean {
    const nowMs = performance.now();
    const stepMs = Math.min(nowMs - this.#lookedMs, stepMsMax);
    this.#lookedMs = nowMs;
    if (pid !== this.#pid) {
      this.#pid = pid;
      this.#work = pid === undefined ? undefined : new ProcessWork(pid);
    }
    return this.#silence.lasts(stepMs, () => this.#work?.look() ?? 0);
  }

  get seconds(): number {
    return Math.round(this.#silence.ms / 100) / 10;
  }
}

/** Undefined without a listener. */
function connectTo(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once("connect", () => {
      socket.off("error", failed);
      resolve(socket);
    });
    const failed = (): void => resolve(undefined);
    socket.once("error", failed);
  });
}

/** Undefined when the other end closes first. */
async function exchange(socket: Socket, request: CompilerRequest, signal?: AbortSignal): Promise<unknown> {
  const takeBack = (): void => void socket.destroy();
  signal?.addEventListener("abort", takeBack, { once: true });
  socket.on("error", () => socket.destroy());
  writeMessage(socket, requestBounds, request);
  const reply = await readMessage(socket, replyBounds);
  signal?.removeEventListener("abort", takeBack);
  socket.destroy();
  return reply;
}
