/**
 * What a job under message logging keeps outside its nodes: the checkpoints of its sets, and, with the help of the event logger,
 * what a set that has fallen needs to begin its next life. Embedded in the dispatcher's process.
 */
import type { FaultEvent } from "../../core/fault/moment.ts";
import type { Interval } from "../../core/service/checkpoint-policy.ts";
import { membersOf } from "../../core/service/correlated-sets.ts";
import type { LoggerProcess } from "../logging/logger-process.ts";
import { bytesOf, type CheckpointTimes, type LoggingReport, type RecoveryTimes } from "../logging/logging-report.ts";
import type { KnownStream, Life, LoggingSetup, RankRestart, ToNode } from "../node/messages.ts";
import type { RankDone } from "../node/rank-messages.ts";
import { Losses } from "./losses.ts";
import { SetCheckpoints } from "./set-checkpoints.ts";

export interface RecoveryOptions {
  /** Correlated set of each rank. */
  readonly setOf: readonly number[];
  /** For the images; nodes make it when the first is taken. */
  readonly folder: string;
  /** Sockets of the checkpoint servers; none: the images stay in the folder. */
  readonly checkpointServers: readonly string[];
  /** Time between two checkpoints of a set. */
  readonly checkpointInterval: Interval;
  /** A member that has not come to an MPI call by then: the attempt is given up, and repeated later. */
  readonly checkpointPatienceMs: number;
  /** How much of a rank's payload log may be in memory, and where the rest goes. */
  readonly logBytesMax: number;
  readonly spillFolder: string;
  /** Are checkpoints the program's own business? */
  readonly isTypeScript: boolean;
}

export interface RecoveryPorts {
  readonly logger: Pick<LoggerProcess, "fence" | "trim" | "endOf" | "losses">;
  /** To the node that has the set's ranks. */
  toSet(set: number, message: ToNode): void;
  /** See `SetCheckpointsPorts`. */
  verify(paths: readonly string[]): Promise<string>;
  dropped(set: number, number: number): void;
  /** For fault plans: whatever was to happen then has, and is known, when the promise is fulfilled. */
  happened(event: FaultEvent): Promise<void>;
  /** A set has a checkpoint in which its ranks have passed so many calls. */
  progressed(set: number, calls: number): void;
  note(message: string): void;
  /** No older image of that set will be restored. */
  oldest(set: number, number: number): void;
  /** A checkpoint counts from now on. */
  committed(times: CheckpointTimes): void;
  /** All that a loss took has come as far as it was. */
  recovered(times: RecoveryTimes): void;
}

/** Times are kept of so many checkpoints, and of so many recoveries. */
const timesMax = 1000;
/** When all is over the event logger is asked for so long how much it was given. */
const lastAnswerMsMax = 500;

export class Recovery {
  readonly checkpoints: SetCheckpoints;
  readonly #options: RecoveryOptions;
  readonly #ports: RecoveryPorts;
  readonly #members: readonly (readonly number[])[];
  /** Of sets that have fallen, until their nodes have them. */
  readonly #streams = new Map<number, KnownStream>();
  readonly #losses: Losses;
  /** Which life of each set is the present one. */
  readonly #incarnations: number[];
  /** When the job began. */
  readonly #wallMs = Date.now();
  readonly #counts = { checkpoints: 0, restarts: 0, ranksRestarted: 0, determinantBytes: 0 };
  readonly #logged: (RankDone["logged"] | undefined)[];
  readonly #checkpointTimes: CheckpointTimes[] = [];
  readonly #recoveries: RecoveryTimes[] = [];

  constructor(options: RecoveryOptions, ports: RecoveryPorts) {
    this.#options = options;
    this.#ports = ports;
    this.#members = membersOf(options.setOf);
    this.#incarnations = this.#members.map(() => 0);
    this.#losses = new Losses(options.setOf);
    this.#logged = options.setOf.map(() => undefined);
    const checkpointOptions = { ...options, members: this.#members };
    this.checkpoints = new SetCheckpoints(checkpointOptions, {
      toSet: (set, message) => ports.toSet(set, message),
      incarnationOf: (set) => this.#incarnations[set]!,
      hasBegun: (set) => this.#losses.hasBegun(set),
      verify: (paths) => ports.verify(paths),
      dropped: (set, number) => ports.dropped(set, number),
      happened: (event) => ports.happened(event),
      endOfStream: (set) => ports.logger.endOf(set),
      note: (message) => ports.note(message),
      committed: (times, { oldest, callsPassed }) => {
        this.#counts.checkpoints++;
        ports.logger.trim({ set: times.set, below: oldest.position });
        if (this.#checkpointTimes.length < timesMax) this.#checkpointTimes.push(times);
        ports.progressed(times.set, callsPassed);
        ports.oldest(times.set, oldest.number);
        ports.committed(times);
      },
    });
  }

  /** What has come of it so far. */
  get report(): LoggingReport {
    const known = this.#logged.flatMap((logged) => logged ?? []);
    return {
      ...this.#counts,
      loggerRestarts: this.#ports.logger.losses,
      loggedBytes: known.reduce((sum, logged) => sum + bytesOf(logged), 0),
      loggedMessages: known.reduce((sum, { messages }) => sum + messages, 0),
      perRank: [...this.#logged],
      checkpointTimes: [...this.#checkpointTimes],
      recoveries: [...this.#recoveries],
    };
  }

  /** Which life of each of these ranks is the present one. */
  livesOf(ranks: readonly number[]): Life[] {
    return ranks.map((rank) => ({ rank, incarnation: this.#incarnations[this.#options.setOf[rank]!]! }));
  }

  /** What a node that is about to start must know. */
  setup(restarts: readonly RankRestart[]): LoggingSetup {
    const { setOf, folder, checkpointServers, logBytesMax, spillFolder } = this.#options;
    const streams = [...new Set(restarts.map(({ rank }) => setOf[rank]!))].map((set) => this.#streams.get(set)!);
    for (const { set } of streams) this.#streams.delete(set);
    return {
      setOf,
      incarnations: setOf.map((set) => this.#incarnations[set]!),
      streams,
      restarts,
      checkpointFolder: folder,
      checkpointServers,
      spillFolder,
      logBytesMax,
      beganMs: this.#wallMs,
    };
  }

  /** A node was lost, and with it these ranks: see there. */
  nodeFallen(ranks: readonly number[]): Promise<RankRestart[] | null> {
    this.#counts.restarts++;
    return this.fallen(ranks);
  }

  /**
   * The sets of these ranks have fallen: how each of their members begins its next life. Null: what they had chosen is lost with an
   * event logger, or the job is over.
   */
  async fallen(ranks: readonly number[]): Promise<RankRestart[] | null> {
    const sets = [...new Set(ranks.map((rank) => this.#options.setOf[rank]!))];
    this.checkpoints.failed();
    this.#losses.fell(sets.flatMap((set) => this.#members[set]!));
    const restarts = await Promise.all(sets.map((set) => this.#restartOf(set)));
    return restarts.some((some) => some === null) ? null : restarts.flatMap((some) => some ?? []);
  }

  async #restartOf(set: number): Promise<RankRestart[] | null> {
    const incarnation = ++this.#incarnations[set]!;
    this.checkpoints.setFell(set);
    const { number: checkpoint, position, imageFolder } = this.checkpoints.newest(set);
    const { position: from } = this.checkpoints.oldest(set);
    const members = this.#members[set]!;
    this.#counts.ranksRestarted += members.length;
    const words = await this.#ports.logger.fence({ set, incarnation, from });
    if (words === null) return null;
    this.#streams.set(set, { set, from, words });
    const log = words.subarray((position - from) | 0);
    return members.map((rank) => ({ rank, incarnation, checkpoint, imageFolder, log }));
  }

  /** A rank has begun a life, perhaps not its first. */
  began(rank: number): void {
    if (!this.#losses.began(rank)) return;
    void this.#ports.happened({ kind: "recovery", set: this.#options.setOf[rank]! });
  }

  /** A rank has come as far as its lives before. */
  caughtUp(rank: number, incarnation: number): void {
    if (incarnation !== this.#incarnations[this.#options.setOf[rank]!]) return;
    const times = this.#losses.caughtUp(rank);
    if (times === undefined) return;
    if (this.#recoveries.length < timesMax) this.#recoveries.push(times);
    this.#ports.recovered(times);
  }

  /** The program of a rank is over. */
  done(rank: number, { incarnation, logged }: RankDone): void {
    this.#logged[rank] = logged;
    this.caughtUp(rank, incarnation);
  }

  /** The memory of a rank's payload log was short, and most of it is kept for these sets. */
  logFull(rank: number, sets: readonly number[]): void {
    void this.#ports.happened({ kind: "log-full", set: this.#options.setOf[rank]! });
    this.checkpoints.logFull(sets);
  }

  /** The image of a rank that was to begin with it cannot be read: its set begins with an older one. Empty, or why it cannot. */
  unreadable(rank: number, checkpoint: number): string {
    return this.checkpoints.unreadable(this.#options.setOf[rank]!, checkpoint);
  }

  /** The job is over. Fulfilled when the event logger has said how much it was given. */
  async end(): Promise<void> {
    this.checkpoints.end();
    const ends = Promise.all(this.#members.map((_, set) => this.#ports.logger.endOf(set)));
    const known = await Promise.race([
      ends,
      new Promise<null>((resolve) => setTimeout(resolve, lastAnswerMsMax, null)),
    ]);
    // Positions count words, from the beginning of the job.
    for (const end of known ?? []) this.#counts.determinantBytes += 4 * ((end ?? 0) >>> 0);
  }
}
