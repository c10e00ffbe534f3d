/**
 * A channel memory, seen from the dispatcher: a forked process, and another in its place when it is lost or hangs, which goes on with the
 * files of the lost one. Ranks wait meanwhile, and say again what was not acknowledged.
 */
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { unreachable } from "../../core/base/assert.ts";
import type { MemoryAmounts } from "../../core/ft/channel-memory/report.ts";
import { type Patience, Silence } from "../../core/service/silence.ts";
import { forkService } from "../machine/fork-service.ts";
import { ProcessWork } from "../machine/process-work.ts";
import type { Address } from "../transport/sockets/address.ts";
import type { FromMemoryProcess, MemorySetup, ToMemoryProcess } from "./messages.ts";

interface MemoryPorts {
  /** It listens, or another does in its place: nodes must hear its address. */
  ready(address: Address): void;
  /** It was lost, found no room on the disk, or was silent for so long that it was killed; another takes its place. */
  lost(how: { readonly silentMs: number | null; readonly isFull: boolean }): void;
  /** There will be no such memory. */
  unable(why: string): void;
}

interface MemoryProcessOptions extends Omit<MemorySetup, "kind"> {
  readonly patience: Patience;
  /** Starts a process, unless given one that runs the memory's program. */
  readonly fork?: () => ChildProcess;
}

/** Losses in a row, each soon after the start, until the cause counts as its own. */
const lossesMax = 20;
/** Signs of life after which a process counts as having worked. */
const signsOfLife = 10;
/** The end of a process that was killed is waited for so long, where the job is over. */
const endMsMax = 5000;

const nothing: MemoryAmounts = { messages: 0, bytes: 0 };

export class MemoryProcess {
  readonly #options: MemoryProcessOptions;
  readonly #ports: MemoryPorts;
  #child!: ChildProcess;
  #silence!: Silence;
  #work!: ProcessWork;
  #signs = 0;
  #lossesInARow = 0;
  #address: Address | null = null;
  #isOver = false;
  /** The present process has found no room on the disk. */
  #isFull = false;
  /** The silence for which the present process was killed; null: it was not. */
  #killedMs: number | null = null;
  /** Of processes that were lost, and of the present one. */
  #before = nothing;
  #present = nothing;
  /** Those who wait for the next sign of life. */
  #awaiting: (() => void)[] = [];
  /** How often another took its place. */
  losses = 0;

  constructor(options: MemoryProcessOptions, ports: MemoryPorts) {
    this.#options = options;
    this.#ports = ports;
    this.#start();
  }

  /** Its address for nodes; null: it does not listen yet. */
  get address(): Address | null {
    return this.#address;
  }

  get amounts(): MemoryAmounts {
    return sumOf(this.#before, this.#present);
  }

  /** So much time has passed in which the dispatcher was awake. One that says nothing for too long is killed, and so replaced. */
  tick(stepMs: number): void {
    if (this.#isOver) return;
    this.#send({ kind: "ask-life" });
    if (!this.#silence.lasts(stepMs, () => this.#work.look()) || this.#killedMs !== null) return;
    // When it has ended it is lost: until then it could write to its files, and acknowledge.
    this.#killedMs = this.#silence.ms;
    this.#child.kill("SIGKILL");
  }

  /** For fault plans. False: it is gone. */
  kill(): boolean {
    return this.#child.kill("SIGKILL");
  }

  /** Fulfilled when it has told once more what has come to it, or will not. */
  async lastAmounts(): Promise<void> {
    if (this.#isOver || this.#address === null) return;
    await new Promise<void>((resolve) => {
      this.#awaiting.push(resolve);
      this.#send({ kind: "ask-life" });
    });
  }

  /** The job is over. Fulfilled when the process is gone. */
  async end(): Promise<void> {
    this.#isOver = true;
    this.#answered();
    const child = this.#child;
    if (!isAlive(child)) return;
    await new Promise<void>((resolve) => {
      // One that the system does not end (a disk that does not answer) shall not keep the job.
      const timer = setTimeout(resolve, endMsMax);
      child.once("exit", () => {
        clearTimeout(timer);
        resolve();
      });
      child.kill("SIGKILL");
    });
    if (child.connected) child.disconnect();
    child.unref();
  }

  #start(): void {
    const child = (this.#options.fork ?? forkMemory)();
    this.#child = child;
    this.#silence = new Silence(this.#options.patience);
    this.#work = new ProcessWork(child.pid ?? 0);
    this.#signs = 0;
    this.#killedMs = null;
    this.#isFull = false;
    child.on("message", (message) => {
      if (child === this.#child) this.#said(message as FromMemoryProcess);
    });
    child.on("error", (error) => {
      if (child === this.#child) this.#unable(error.message);
    });
    child.on("exit", () => this.#lost(child));
    const { job, host, folder, memory, memories, ranks, isForDisk } = this.#options;
    this.#send({ kind: "setup", job, host, folder, memory, memories, ranks, isForDisk });
  }

  #send(message: ToMemoryProcess): void {
    // One that is gone shows as its end.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  #said(message: FromMemoryProcess): void {
    this.#silence.heard();
    switch (message.kind) {
      case "ready":
        this.#address = { host: this.#options.host, port: message.port };
        this.#ports.ready(this.#address);
        break;
      case "lives":
        this.#present = message.amounts;
        if (++this.#signs >= signsOfLife) this.#lossesInARow = 0;
        this.#answered();
        break;
      case "unable":
        this.#unable(message.why);
        break;
      case "full":
        this.#isFull = true;
        break;
      default:
        unreachable(message);
    }
  }

  #answered(): void {
    for (const resolve of this.#awaiting.splice(0)) resolve();
  }

  #unable(why: string): void {
    if (this.#isOver) return;
    void this.end();
    this.#ports.unable(why);
  }

  #lost(child: ChildProcess): void {
    if (this.#isOver || child !== this.#child) return;
    this.#address = null;
    this.losses++;
    this.#before = this.amounts;
    this.#present = nothing;
    this.#answered();
    if (++this.#lossesInARow > lossesMax) {
      const why = `it was lost ${this.#lossesInARow} times, each time within a second or so`;
      this.#unable(this.#isFull ? "the disk is full" : why);
      return;
    }
    this.#ports.lost({ silentMs: this.#killedMs, isFull: this.#isFull });
    this.#start();
  }
}

const sumOf = (a: MemoryAmounts, b: MemoryAmounts): MemoryAmounts => ({
  messages: a.messages + b.messages,
  bytes: a.bytes + b.bytes,
});

const isAlive = ({ pid, exitCode, signalCode }: ChildProcess): boolean =>
  pid !== undefined && exitCode === null && signalCode === null;

function forkMemory(): ChildProcess {
  return forkService(join(__dirname, "memory.cjs"));
}
