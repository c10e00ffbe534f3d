/**
 * Message logging's part for the whole job, in a real one: the core `LoggingJob`, with the event logger's process and the timer that
 * the core wants.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { secondsText } from "../../core/base/amounts.ts";
import type { Service } from "../../core/fault/plan.ts";
import { isForDisk } from "../../core/ft/durable-option.ts";
import { LoggingJob } from "../../core/ft/logging/logging-job.ts";
import type { LoggingLaunchOptions } from "../../core/ft/logging/options.ts";
import type { LoggingJobReport } from "../../core/ft/logging/report.ts";
import type { LoggerIsAt, LoggingNodeSetup } from "../../core/ft/logging/shapes.ts";
import { membersBySet } from "../../core/ft/sets.ts";
import { Alarm } from "../machine/alarm.ts";
import type { JobPartHost, JobPartHostPorts, JobPartSetup } from "../part-hosts/job-part-host.ts";
import { LoggerProcess } from "./logger-process.ts";

/** The file of the event logger in the job's folder. */
const eventLogIn = (folder: string): string => join(folder, "event-log");
/** The file could not be written, and is gone: a job that goes on must not take that for one in which nothing was chosen. */
const spoiltIn = (folder: string): string => `${eventLogIn(folder)}.spoilt`;
/** Has an event logger of the job acknowledged anything? */
const hasChosen = (folder: string): boolean => existsSync(eventLogIn(folder)) || existsSync(spoiltIn(folder));
/** When all is over the event logger is asked for so long how much it was given. */
const lastAnswerMsMax = 500;

export class LoggingJobHost implements JobPartHost {
  readonly part: LoggingJob;
  readonly #setup: JobPartSetup;
  readonly #ports: JobPartHostPorts;
  readonly #logger: LoggerProcess;
  readonly #alarm: Alarm;
  #determinantBytes = 0;
  /** Trouble with the event logger's file that was told last; empty: none. */
  #trouble = "";

  constructor(setup: JobPartSetup, ports: JobPartHostPorts) {
    const { setOf, language, job, host, patience, folder, isResumed } = setup;
    this.#setup = setup;
    this.#ports = ports;
    this.part = new LoggingJob(
      { setOf, programsTakeCheckpoints: language === "typescript" },
      {
        fence: (set, incarnation, from) => void this.#fence(set, incarnation, from),
        askEnd: (set) => void this.#askEnd(set),
        trim: (set, below) => this.#logger.trim({ set, below }),
      },
      ports,
    );
    this.#alarm = new Alarm(this.part, (nowMs) => this.part.tick(nowMs));
    this.#logger = new LoggerProcess(
      {
        job,
        host,
        patience,
        file: eventLogIn(folder),
        isResumed: isResumed && hasChosen(folder),
        isForDisk: isForDisk(setup.options),
      },
      {
        ready: (address) => ports.toNodes({ logger: address } satisfies LoggerIsAt),
        lost: (silentMs) => {
          const how = silentMs === null ? "was lost" : `gave no sign of life for ${secondsText(silentMs)}`;
          ports.note(`the event logger ${how}; another takes its place`);
        },
        troubled: (could, why) => this.#troubled(could, why),
        unable: (why) => ports.unusable(`Cannot use the event logger: ${why}`),
      },
    );
  }

  #troubled(could: "not-read" | "not-write", why: string): void {
    if (could === "not-write") this.#spoil();
    // Every event logger that takes the place of another meets the same disk: the line that was said last is not repeated.
    const what =
      could === "not-write"
        ? `Cannot write the event log: ${why}; the job goes on, and ends if a node is lost together with the event logger`
        : `Cannot read the event log: ${why}; ${this.#setup.isResumed ? "the job cannot go on" : "the nodes tell the new event logger what they keep"}`;
    if (what !== this.#trouble) this.#ports.note(what);
    this.#trouble = what;
  }

  #spoil(): void {
    try {
      writeFileSync(spoiltIn(this.#setup.folder), "", { mode: 0o600 });
    } catch {
      // A folder that takes no file at all has no journal either.
    }
  }

  async #fence(set: number, incarnation: number, from: number): Promise<void> {
    const words = await this.#logger.fence({ set, incarnation, from });
    this.part.fenced(set, incarnation, words);
  }

  async #askEnd(set: number): Promise<void> {
    const end = await this.#logger.endOf(set);
    this.part.endIs(set, end, performance.now());
    this.#alarm.set();
  }

  forNode(node: number, restarting: readonly number[]): LoggingNodeSetup {
    return { ...this.part.forNode(node, restarting), logBytesMax: logBytesMax(this.#setup) };
  }

  nodeStarted(node: number): void {
    const { address } = this.#logger;
    if (address !== null) this.#ports.toNode(node, { logger: address } satisfies LoggerIsAt);
  }

  allBegan(): void {}

  prepareSpare(): void {
    this.#logger.prepareSpare();
  }

  tick(nowMs: number, stepMs: number): void {
    this.part.tick(nowMs);
    this.#logger.tick(stepMs);
    this.#alarm.set();
  }

  kill(service: Service): boolean {
    return service === "event-logger" && this.#logger.kill();
  }

  async end(): Promise<void> {
    this.#alarm.end();
    const ends = Promise.all(membersBySet(this.#setup.setOf).map((_, set) => this.#logger.endOf(set)));
    const known = await Promise.race([
      ends,
      new Promise<null>((resolve) => setTimeout(resolve, lastAnswerMsMax, null)),
    ]);
    // Positions count words, from the beginning of the job.
    for (const end of known ?? []) this.#determinantBytes += 4 * ((end ?? 0) >>> 0);
    await this.#logger.end();
  }

  get report(): LoggingJobReport {
    return { determinantBytes: this.#determinantBytes, loggerRestarts: this.#logger.losses };
  }
}

/** A quarter of the rank's memory, unless given: a C program's own, in TypeScript its share of the node's. */
function logBytesMax({ options, memoryMb, setOf, nodes, language }: JobPartSetup): number {
  const { logMemoryMb = 0 } = options as LoggingLaunchOptions;
  const share = language === "c" ? memoryMb : memoryMb / Math.ceil(setOf.length / nodes);
  return Math.floor((logMemoryMb === 0 ? share / 4 : logMemoryMb) * 2 ** 20);
}
