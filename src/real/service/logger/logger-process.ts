/**
 * The event logger, seen from the dispatcher: a forked process with a channel, and another in its place when it is lost. Questions
 * wait until there is one that can answer.
 */
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { unreachable } from "../../../core/base/assert.ts";
import type { Job } from "../../transport/handshake/handshake.ts";
import type { Address } from "../../transport/tcp/tcp-host.ts";
import type { Fence, FromLogger, ToLogger, Trim } from "./messages.ts";

export interface LoggerPorts {
  /** It is there, or another is in its place: nodes must hear where. */
  ready(address: Address): void;
  /** It was lost; another takes its place. */
  lost(): void;
  /** There will be none. */
  unable(why: string): void;
}

/** A question and who waits for the answer. */
interface Question {
  readonly message: ToLogger;
  answered(message: FromLogger | null): void;
}

const loopback = "127.0.0.1";
/** One after the other: it falls for a reason of its own. */
const lossesMax = 20;

export class LoggerProcess {
  readonly #job: Job;
  readonly #ports: LoggerPorts;
  #child!: ChildProcess;
  #address: Address | null = null;
  readonly #questions: Question[] = [];
  #isOver = false;
  /** How often another took its place. */
  losses = 0;

  constructor(job: Job, ports: LoggerPorts) {
    this.#job = job;
    this.#ports = ports;
    this.#start();
  }

  /** Where nodes find it; null: it is not there yet. */
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

  /** For fault plans. False: it is gone. */
  kill(): boolean {
    return this.#child.kill("SIGKILL");
  }

  /** The job is over. Fulfilled when the process is gone. */
  async end(): Promise<void> {
    this.#isOver = true;
    for (const { answered } of this.#questions.splice(0)) answered(null);
    const { exitCode, signalCode } = this.#child;
    if (this.#child.pid === undefined || exitCode !== null || signalCode !== null) return;
    const gone = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    await gone;
  }

  #start(): void {
    const child = fork(join(__dirname, "logger.cjs"), [], {
      // A group of its own: the terminal's signals are the dispatcher's business.
      detached: true,
      serialization: "advanced",
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      execArgv: ["--disable-warning=ExperimentalWarning"],
    });
    this.#child = child;
    child.on("message", (message) => {
      if (child === this.#child) this.#said(message as FromLogger);
    });
    child.on("error", (error) => this.#unable(error.message));
    child.on("exit", () => this.#lost());
    this.#send({ kind: "setup", job: this.#job, isSuccessor: this.losses > 0 });
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
    switch (message.kind) {
      case "ready":
        this.#address = { host: loopback, port: message.port };
        for (const question of this.#questions) this.#send(question.message);
        this.#ports.ready(this.#address);
        break;
      case "unable":
        this.#unable(message.why);
        break;
      case "fenced":
      case "end-is":
        this.#questions.shift()?.answered(message);
        break;
      default:
        unreachable(message);
    }
  }

  #unable(why: string): void {
    if (this.#isOver) return;
    void this.end();
    this.#ports.unable(why);
  }

  #lost(): void {
    if (this.#isOver) return;
    this.#address = null;
    this.losses++;
    if (this.losses > lossesMax) {
      this.#unable(`it was lost ${this.losses} times`);
      return;
    }
    this.#ports.lost();
    this.#start();
  }
}
