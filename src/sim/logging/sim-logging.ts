/**
 * Message logging in a simulated world, beside what stands in its processes: the streams of determinants of the sets, the event logger
 * and what payload logs have no room for. Its part for the job is the one that ships.
 */
import type { Service } from "../../core/fault/plan.ts";
import type { Checkpoint } from "../../core/ft/checkpoint.ts";
import {
  type KnownStream,
  type LogFullWords,
  LoggingJob,
  type LoggingNodePart,
} from "../../core/ft/logging/logging-job.ts";
import { type LoggingOptions, LoggingProtocol } from "../../core/ft/logging/logging-protocol.ts";
import type { PayloadMemoryOptions } from "../../core/ft/logging/payload-memory.ts";
import type { NewProtocol, ProtocolPorts } from "../../core/ft/protocol.ts";
import type { JobOutcome } from "../../core/service/outcome.ts";
import type { Random } from "../random.ts";
import type { PartsPorts, ProtocolParts } from "../recovery/protocol-parts.ts";
import { EventLog, type StoreFaults } from "./event-log.ts";
import { Shelf } from "./shelf.ts";
import { SimSetStream } from "./sim-set-stream.ts";

interface SimLoggingOptions {
  readonly setOf: readonly number[];
  readonly random: Random;
  readonly delayNsMax: number;
  readonly restartNs: number;
  /** Memory of each rank's payload log; null: it has no bound. */
  readonly logBytesMax: number | null;
  /** Is an event logger that is lost only out of reach? Otherwise it crashes, and a successor takes its place. */
  readonly loggerKeeps: boolean;
  readonly storeFaults: StoreFaults;
  /** Another protocol than the real one, for tests that want to see it fail. */
  readonly newProtocol?: ((options: LoggingOptions, ports: ProtocolPorts) => LoggingProtocol) | undefined;
}

/** One life of a set. */
interface SetLife {
  readonly incarnation: number;
  readonly members: readonly number[];
  readonly stream: SimSetStream;
  /** Up to where the present event logger has its stream, if it knows how far the one before had come. */
  told: number | null;
  /** Its processes are taken for dead, and live. */
  isSuspect: boolean;
}

/** Until the event log is asked again how far it has come. */
const againMs = 0.02;

export class SimLogging implements ProtocolParts {
  readonly eventLog: EventLog;
  readonly rare = {
    determinantsLost: 0,
    acknowledgementsLost: 0,
    loggerLost: 0,
    loggerCrashed: 0,
    choicesLost: 0,
    logFull: 0,
  };
  /** Sets that the event logger refused when it had been told all of their choices. Any such set is a fault of the event logger. */
  readonly refusedInVain: number[] = [];
  readonly #options: SimLoggingOptions;
  readonly #ports: PartsPorts;
  readonly #lives = new Map<number, SetLife>();
  /** By rank: that of its last process. A rank that leaves its set is of another one in its next life. */
  readonly #lifeOf: SetLife[] = [];
  /** Lives beside those. */
  readonly #suspects: SetLife[] = [];
  readonly #shelves: Shelf[];
  #job: LoggingJob;

  constructor(options: SimLoggingOptions, ports: PartsPorts) {
    const { setOf } = options;
    this.#options = options;
    this.#ports = ports;
    this.#shelves = Array.from(setOf, () => new Shelf());
    this.eventLog = new EventLog(options, {
      nowNs: () => ports.nowNs(),
      plan: (timeNs, act) => ports.plan(timeNs, act),
      ready: () => this.connect(),
      crashed: () => {
        this.rare.loggerCrashed++;
        for (const life of this.#lives.values()) life.told = null;
      },
      told: (set, incarnation, end) => {
        const life = this.#lives.get(set);
        if (life?.incarnation === incarnation) life.told = end;
      },
      refused: (set) => this.#refused(set),
      fenced: (set, incarnation, words) => ports.feed(() => this.job.fenced(set, incarnation, words)),
      endIs: (set, end) => ports.feed((nowMs) => this.job.endIs(set, end, nowMs)),
    });
    this.#job = this.#newJob();
    for (const set of new Set(setOf)) this.#begin(0, { set, from: 0, words: new Int32Array(0) });
  }

  get job(): LoggingJob {
    return this.#job;
  }

  #newJob(): LoggingJob {
    const options = { setOf: this.#options.setOf, programsTakeCheckpoints: false, againMs };
    return new LoggingJob(options, this.eventLog, this.#ports.job);
  }

  dispatcherCrashed(): void {
    this.eventLog.dispatcherCrashed();
    this.#job = this.#newJob();
  }

  beginAll(): void {
    this.connect();
  }

  /** Streams of sets that live connect to the event logger. */
  connect(): void {
    for (const { stream } of [...this.#lives.values(), ...this.#suspects]) stream.client.connect();
  }

  get spilled(): number {
    return this.#shelves.reduce((sum, { puts }) => sum + puts, 0);
  }

  get fetched(): number {
    return this.#shelves.reduce((sum, { fetched }) => sum + fetched, 0);
  }

  lose(service: Service, keepsContents = this.#options.loggerKeeps): void {
    if (service !== "event-logger") return;
    this.rare.loggerLost++;
    if (keepsContents) this.eventLog.cut();
    else this.eventLog.crash();
  }

  loseAll(): void {
    this.lose("event-logger", false);
  }

  /**
   * The one end that docs/logging.md allows: an event logger was lost, its store was damaged, and a set was fenced before its node had
   * told the successor all that was acknowledged once. What the node tells after the fence comes too late, also when the job hears of the refusal later.
   */
  isLegitimateEnd(outcome: JobOutcome | undefined): boolean {
    const reason = outcome?.reason;
    const isIt =
      reason?.kind === "unusable" && reason.message.endsWith("the event logger was lost with what they had chosen");
    return isIt && this.eventLog.stores.refused > 0 && this.rare.choicesLost > 0 && this.refusedInVain.length === 0;
  }

  #refused(set: number): void {
    this.rare.choicesLost++;
    const life = this.#lives.get(set);
    // A set that was divided, and has not begun since.
    if (life === undefined) return;
    const { told, stream } = life;
    if (told !== null && ((told - stream.stable) | 0) >= 0) this.refusedInVain.push(set);
  }

  // Processes

  newProtocol(rank: number): NewProtocol {
    const { setOf, newProtocol } = this.#options;
    const life = this.#lives.get(setOf[rank]!)!;
    const options = { rank, setOf: Int32Array.from(setOf), stream: life.stream, payloads: this.#payloads(rank, life) };
    return (ports) => newProtocol?.(options, ports) ?? new LoggingProtocol(options, ports);
  }

  #payloads(rank: number, life: SetLife): PayloadMemoryOptions | null {
    const { logBytesMax: bytesMax } = this.#options;
    if (bytesMax === null) return null;
    const full = (sets: readonly number[]): void => {
      if (life.isSuspect) return;
      this.rare.logFull++;
      const words: LogFullWords = { kind: "log-full", sets };
      this.#ports.say(rank, words);
    };
    return { bytesMax, spill: this.#shelves[rank]!, full };
  }

  crashed(rank: number): void {
    this.#shelves[rank]!.lose();
    const life = this.#lifeOf[rank]!;
    if (!life.isSuspect && this.#ports.areDead(life.members)) life.stream.client.fall();
  }

  disowned(ranks: readonly number[]): void {
    for (const rank of ranks) this.#shelves[rank] = new Shelf(this.#shelves[rank]);
    for (const life of new Set(ranks.map((rank) => this.#lifeOf[rank]!))) {
      life.isSuspect = true;
      this.#suspects.push(life);
    }
  }

  endSuspects(): void {
    for (const { stream } of this.#suspects) stream.client.fall();
  }

  #membersOf(set: number): number[] {
    const { setOf } = this.#options;
    return [...setOf.keys()].filter((rank) => setOf[rank] === set);
  }

  // Lives of sets

  begin(set: number, incarnation: number, forNode: unknown): void {
    const { streams } = forNode as LoggingNodePart;
    const known = streams.find((stream) => stream.set === set)!;
    const members = this.#membersOf(set);
    const before = this.#lifeOf[members[0]!]!;
    if (!before.isSuspect) before.stream.client.fall();
    const end = (known.from + known.words.length) | 0;
    if (end !== before.stream.born) this.rare.determinantsLost++;
    if (end !== before.stream.stable) this.rare.acknowledgementsLost++;
    this.#begin(incarnation, known).client.connect();
  }

  #begin(incarnation: number, known: KnownStream): SimSetStream {
    const { random, delayNsMax } = this.#options;
    const members = this.#membersOf(known.set);
    const stream = new SimSetStream(
      this.eventLog.service,
      { incarnation, known, random, delayNsMax },
      {
        nowNs: () => this.#ports.nowNs(),
        plan: (timeNs, act) => this.#ports.plan(timeNs, act),
        settled: () => {
          for (const rank of members) this.#ports.wake(rank);
        },
      },
    );
    const life = { incarnation, members, stream, told: null, isSuspect: false };
    this.#lives.set(known.set, life);
    for (const rank of members) this.#lifeOf[rank] = life;
    return stream;
  }

  trimmed(set: number, { position }: Checkpoint): void {
    const client = this.#lives.get(set)?.stream.client;
    client?.later(this.#options.delayNsMax, () => client.end.trim(position));
  }
}
