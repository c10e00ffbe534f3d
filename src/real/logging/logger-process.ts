/**
 * The event logger, seen from the dispatcher: a forked process with a channel, and another in its place when it is lost, which goes on
 * with the file of the lost one (ADR 19). Questions wait until a process can answer them; output and messages between sets wait too. So
 * the new process is one that has started already (ADR 11), and one that hangs is noticed and killed.
 */
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { unreachable } from "../../core/base/assert.ts";
import { type Patience, Silence } from "../../core/service/silence.ts";
import { WordLog } from "../../core/service-channel/word-log.ts";
import { forkService } from "../machine/fork-service.ts";
import { ProcessWork } from "../machine/process-work.ts";
import type { JobSecret } from "../transport/handshake/handshake.ts";
import type { Address } from "../transport/sockets/address.ts";
import type { Fence, FromLogger, LoggerSetup, ToLogger, Trim } from "./messages.ts";

interface LoggerPorts {
  /** It listens, or another does in its place: nodes must hear its address. */
  ready(address: Address): void;
  /** It was lost, or was silent for so long that it counts as lost; another takes its place. */
  lost(silentMs: number | null): void;
  /** Its file cannot be read or written. */
  troubled(could: "not-read" | "not-write", why: string): void;
  /** There will be no event logger. */
  unable(why: string): void;
}

interface LoggerOptions {
  /** The secret by which nodes and services know each other. */
  readonly job: JobSecret;
  /** The address of this machine at which nodes call it. */
  readonly host: string;
  readonly patience: Patience;
  /** Of its streams; the folder is there. */
  readonly file: string;
  /** The file is there, with the streams of a job that goes on. */
  readonly isResumed?: boolean;
  /** What is written is forced to the disk. False unless given. */
  readonly isForDisk?: boolean;
  /** Starts a process, unless given one that runs the event logger's program. */
  readonly fork?: () => ChildProcess;
  /** How long the end of processes that were killed is waited for, where the job is over. */
  readonly endMsMax?: number;
}

/** A question, and the callback for its answer. */
interface Question {
  readonly message: ToLogger;
  answered(message: FromLogger | null): void;
}

/** Losses in a row, each soon after the start, until the cause counts as its own. */
const lossesMax = 20;
/** Signs of life after which a process counts as having worked. */
const signsOfLife = 10;
const endMsMaxDefault = 5000;

export class LoggerProcess {
  readonly #options: LoggerOptions;
  readonly #ports: LoggerPorts;
  #child!: ChildProcess;
  /** Started, and told nothing yet. */
  #spare: ChildProcess | null = null;
  #silence!: Silence;
  #work!: ProcessWork;
  #signs = 0;
  #lossesInARow = 0;
  #address: Address | null = null;
  readonly #questions: Question[] = [];
  /** Of the log that is the answer to the oldest question, as far as it has come. */
  #log = new WordLog();
  #isOver = false;
  /** The silence for which the present process was killed; null: it was not. */
  #killedMs: number | null = null;
  /** Does the present process write its file? */
  #isWriting = true;
  /** What the next process has to go on with. Nodes know no address, and nothing is acknowledged, before the first is ready. */
  #inherits: LoggerSetup["inherits"] = "nothing";
  /** How often another took its place. */
  losses = 0;

  constructor(options: LoggerOptions, ports: LoggerPorts) {
    this.#options = options;
    this.#ports = ports;
    if (options.isResumed === true) this.#inherits = "file";
    this.#start();
  }

  /** Its address for nodes; null: it does not listen yet. */
  get address(): Address | null {
    return this.#address;
  }

  /** The stream of a set that has fallen. Null: it is lost, or the job is over. */
  async fence(question: Omit<Fence, "kind">): Promise<Int32Array | null> {
    const answer = await this.#ask({ kind: "fence", ...question });
    return answer?.kind === "fenced" ? answer.log : null;
  }

  trim(what: Omit<Trim, "kind">): void {
    this.#send({ kind: "trim", ...what });
  }

  /** The position behind the last word of a set's stream; null: it has not been told all yet, or the job is over. */
  async endOf(set: number): Promise<number | null> {
    const answer = await this.#ask({ kind: "ask-end", set });
    return answer?.kind === "end-is" ? answer.position : null;
  }

  /** Another process comes up, for when this one is lost. */
  prepareSpare(): void {
    if (!this.#isOver && (this.#spare === null || !isAlive(this.#spare))) this.#spare = this.#fork();
  }

  /** So much time has passed in which the dispatcher was awake. One that says nothing for too long is killed, and so replaced. */
  tick(stepMs: number): void {
    if (this.#isOver) return;
    this.#send({ kind: "ask-life" });
    if (!this.#silence.lasts(stepMs, () => this.#work.look())) return;
    const { ms } = this.#silence;
    if (this.#killedMs === null) {
      // When it has ended it is lost: until then it could write to its file, and acknowledge.
      this.#killedMs = ms;
      this.#child.kill("SIGKILL");
    } else if (ms > 2 * this.#killedMs) {
      // The system does not end it (a disk that does not answer). It may have acknowledged more than another could read.
      this.#inherits = "nodes";
      const child = this.#child;
      this.#lost(child, ms);
      letGo(child);
    }
  }

  /** For fault plans. False: it is gone. */
  kill(): boolean {
    return this.#child.kill("SIGKILL");
  }

  /** The job is over. Fulfilled when the process is gone. */
  async end(): Promise<void> {
    this.#isOver = true;
    for (const { answered } of this.#questions.splice(0)) answered(null);
    const living = [this.#child, ...(this.#spare === null ? [] : [this.#spare])].filter(isAlive);
    const gone = living.map((child) => new Promise((resolve) => child.once("exit", resolve)));
    for (const child of living) child.kill("SIGKILL");
    // One that the system does not end (a disk that does not answer) shall not keep the job.
    const { endMsMax = endMsMaxDefault } = this.#options;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, endMsMax);
      void Promise.all(gone).then(() => {
        clearTimeout(timer);
        resolve();
      });
    });
    living.forEach(letGo);
  }

  #start(): void {
    const child = this.#spare !== null && isAlive(this.#spare) ? this.#spare : this.#fork();
    this.#spare = null;
    this.#child = child;
    this.#silence = new Silence(this.#options.patience);
    this.#work = new ProcessWork(child.pid ?? 0);
    this.#signs = 0;
    this.#log = new WordLog();
    child.on("message", (message) => {
      if (child === this.#child) this.#said(message as FromLogger);
    });
    child.on("error", (error) => {
      if (child === this.#child) this.#unable(error.message);
    });
    child.on("exit", () => this.#lost(child, this.#killedMs));
    const { job, host, file, isForDisk = false } = this.#options;
    this.#isWriting = true;
    this.#killedMs = null;
    this.#send({ kind: "setup", job, host, file, inherits: this.#inherits, isForDisk });
  }

  #fork(): ChildProcess {
    const child = (this.#options.fork ?? forkLogger)();
    // A spare that cannot be started shows when it is wanted.
    child.on("error", () => {});
    return child;
  }

  #send(message: ToLogger): void {
    // One that is gone shows as its end.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  #ask(message: ToLogger): Promise<FromLogger | null> {
    if (this.#isOver) return Promise.resolve(null);
    return new Promise((answered) => {
      this.#questions.push({ message, answered });
      if (this.#address !== null) this.#send(message);
    });
  }

  #said(message: FromLogger): void {
    this.#silence.heard();
    switch (message.kind) {
      case "ready":
        this.#address = { host: this.#options.host, port: message.port };
        this.#inherits = this.#isWriting ? "file" : "nodes";
        for (const question of this.#questions) this.#send(question.message);
        this.#ports.ready(this.#address);
        // Not sooner: it would take the processor from nodes that send their choices to this process.
        if (this.losses > 0) this.prepareSpare();
        break;
      case "lives":
        this.#signs++;
        if (this.#signs >= signsOfLife) this.#lossesInARow = 0;
        break;
      case "unable":
        this.#unable(message.why);
        break;
      case "store-trouble":
        if (message.could === "not-write") this.#notWriting();
        this.#ports.troubled(message.could, message.why);
        break;
      case "fenced":
        if (message.log !== null) this.#log.lend(message.log);
        if (message.isLast) this.#answered({ ...message, log: message.log === null ? null : this.#log.read(0) });
        break;
      case "end-is":
        this.#answered(message);
        break;
      default:
        unreachable(message);
    }
  }

  #answered(message: FromLogger): void {
    this.#log = new WordLog();
    this.#questions.shift()?.answered(message);
  }

  #notWriting(): void {
    this.#isWriting = false;
    if (this.#inherits === "file") this.#inherits = "nodes";
  }

  #unable(why: string): void {
    if (this.#isOver) return;
    void this.end();
    this.#ports.unable(why);
  }

  #lost(child: ChildProcess, silentMs: number | null): void {
    if (this.#isOver || child !== this.#child) return;
    this.#address = null;
    this.losses++;
    this.#lossesInARow++;
    if (this.#lossesInARow > lossesMax) {
      this.#unable(`it was lost ${this.#lossesInARow} times, each time within a second or so`);
      return;
    }
    this.#ports.lost(silentMs);
    this.#start();
  }
}

const isAlive = ({ pid, exitCode, signalCode }: ChildProcess): boolean =>
  pid !== undefined && exitCode === null && signalCode === null;

/** A process that does not end keeps nobody. Should it go on one day, it finds that nobody is there, and ends. */
function letGo(child: ChildProcess): void {
  if (child.connected) child.disconnect();
  child.unref();
}

function forkLogger(): ChildProcess {
  return forkService(join(__dirname, "logger.cjs"));
}
