/**
 * Message logging's part for the whole job, in a real one: the core `LoggingJob`, with the event logger's process and the timer that
 * the core wants.
 */
import type { Service } from "../../core/fault/plan.ts";
import { LoggingJob } from "../../core/ft/logging/logging-job.ts";
import { membersOf } from "../../core/service/correlated-sets.ts";
import type { Patience } from "../../core/service/silence.ts";
import { Alarm } from "../service/alarm.ts";
import { secondsText } from "../service/failure-text.ts";
import type { JobPartHost, JobPartHostPorts, ProtocolSetup } from "../service/job-part-host.ts";
import type { Job } from "../transport/handshake/handshake.ts";
import { LoggerProcess } from "./logger-process.ts";
import { type LogVolumes, volumesOf } from "./logging-report.ts";

export interface LoggingJobHostOptions {
  /** Correlated set of each rank. */
  readonly setOf: readonly number[];
  /** Does nobody but the programs take checkpoints? */
  readonly programsTakeCheckpoints: boolean;
  /** How much of a rank's payload log may be in memory, and where the rest goes. */
  readonly logBytesMax: number;
  readonly spillFolder: string;
  /** What nodes and services of this job know each other by. */
  readonly job: Job;
  /** An event logger that says nothing for so long is replaced. */
  readonly patience: Patience;
}

/** When all is over the event logger is asked for so long how much it was given. */
const lastAnswerMsMax = 500;

export class LoggingJobHost implements JobPartHost<LogVolumes> {
  readonly part: LoggingJob;
  readonly #options: LoggingJobHostOptions;
  readonly #ports: JobPartHostPorts;
  readonly #logger: LoggerProcess;
  readonly #alarm: Alarm;
  #determinantBytes = 0;

  constructor(options: LoggingJobHostOptions, ports: JobPartHostPorts) {
    this.#options = options;
    this.#ports = ports;
    this.part = new LoggingJob(
      options,
      {
        fence: (set, incarnation, from) => void this.#fence(set, incarnation, from),
        askEnd: (set) => void this.#askEnd(set),
        trim: (set, below) => this.#logger.trim({ set, below }),
      },
      ports,
    );
    this.#alarm = new Alarm(this.part, (nowMs) => this.part.tick(nowMs));
    this.#logger = new LoggerProcess(options.job, options.patience, {
      ready: (address) => ports.toNodes({ kind: "logger", address }),
      lost: (silentMs) => {
        const how = silentMs === null ? "was lost" : `gave no sign of life for ${secondsText(silentMs)}`;
        ports.note(`the event logger ${how}; another takes its place`);
      },
      unable: (why) => ports.unusable(`Cannot use the event logger: ${why}`),
    });
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

  forNode(node: number, restarting: readonly number[]): ProtocolSetup {
    const { spillFolder, logBytesMax } = this.#options;
    return { ...this.part.forNode(node, restarting), spillFolder, logBytesMax };
  }

  nodeStarted(node: number): void {
    const { address } = this.#logger;
    if (address !== null) this.#ports.toNode(node, { kind: "logger", address });
  }

  allBegan(): void {
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
    const ends = Promise.all(membersOf(this.#options.setOf).map((_, set) => this.#logger.endOf(set)));
    const known = await Promise.race([
      ends,
      new Promise<null>((resolve) => setTimeout(resolve, lastAnswerMsMax, null)),
    ]);
    // Positions count words, from the beginning of the job.
    for (const end of known ?? []) this.#determinantBytes += 4 * ((end ?? 0) >>> 0);
    await this.#logger.end();
  }

  get report(): LogVolumes {
    const { losses: loggerRestarts } = this.#logger;
    return { determinantBytes: this.#determinantBytes, loggerRestarts, ...volumesOf(this.part.logged) };
  }
}
