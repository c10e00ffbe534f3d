/**
 * What a job under message logging keeps outside its nodes: the checkpoint server (its core) and the images on disk; and what a
 * set that has fallen needs to begin its next life, with the help of the event logger. Embedded in the dispatcher's process.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { FaultEvent } from "../../core/fault/moment.ts";
import { CheckpointPolicy, type Interval } from "../../core/service/checkpoint-policy.ts";
import { CheckpointServer } from "../../core/service/checkpoint-server.ts";
import { membersOf } from "../../core/service/correlated-sets.ts";
import type {
  CaptureFacts,
  KnownStream,
  Life,
  LoggingSetup,
  RankDone,
  RankImage,
  RankRestart,
  ToNode,
} from "../node/messages.ts";
import type { LoggerProcess } from "./logger/logger-process.ts";
import { bytesOf, type CheckpointTimes, type LoggingReport, type RecoveryTimes } from "./logging-report.ts";

export interface RecoveryOptions {
  /** Correlated set of each rank. */
  readonly setOf: readonly number[];
  /** For the images; made when the first is taken. */
  readonly folder: string;
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
  /** Reads an image back: what is wrong with it, empty if nothing. */
  verify(path: string): Promise<string>;
  /** For fault plans: whatever was to happen then has, and is known, when the promise is fulfilled. */
  happened(event: FaultEvent): Promise<void>;
  /** A set has come further than all its lives before. */
  progressed(set: number): void;
  note(message: string): void;
  /** No older image of that set will be restored. */
  oldest(set: number, number: number): void;
  /** A checkpoint counts from now on. */
  committed(times: CheckpointTimes): void;
  /** All that a loss took has come as far as it was. */
  recovered(times: RecoveryTimes): void;
}

/** How long the checkpoint under way has taken so far. */
interface Attempt {
  readonly beganMs: number;
  settledMs: number;
  barrierMs: number;
  readonly captured: Set<number>;
  /** When all had been copied and could go on; 0: not yet. */
  capturedMs: number;
  storedMs: number;
}

/** A loss that is being made good. */
interface Loss {
  readonly atMs: number;
  readonly ranks: readonly number[];
  /** Those that have not come as far as they were. */
  readonly behind: Set<number>;
  runningMs: number;
}

/** Full logs ask a set for a checkpoint no more often than that. */
const askedMsMin = 1000;
/** Until the event logger is asked again how far it has come; and for how long it is asked when all is over. */
const loggedAgainMs = 5;
const lastAnswerMsMax = 500;
/** Times are kept of so many checkpoints, and of so many recoveries. */
const timesMax = 1000;

export class Recovery {
  readonly #counts = { checkpoints: 0, restarts: 0, ranksRestarted: 0, determinantBytes: 0 };
  readonly #logged: (RankDone["logged"] | undefined)[] = [];
  readonly #attempts: Attempt[] = [];
  readonly #checkpointTimes: CheckpointTimes[] = [];
  /** By set, as long as any of its ranks is behind. */
  readonly #losses = new Map<number, Loss>();
  readonly #recoveries: RecoveryTimes[] = [];
  readonly #options: RecoveryOptions;
  readonly #ports: RecoveryPorts;
  readonly #members: readonly (readonly number[])[];
  /** Of sets that have fallen, until their nodes have them. */
  readonly #streams = new Map<number, KnownStream>();
  readonly #server: CheckpointServer;
  readonly #policy: CheckpointPolicy;
  #beganMs = 0;
  readonly #incarnations: number[];
  /** When a full log last led to a checkpoint, of each set. */
  readonly #askedMs: (number | undefined)[] = [];
  #hasWarned = false;
  /** When the job began. */
  readonly #wallMs = Date.now();
  /** The images that are being read back, of each set. */
  readonly #committing: (Promise<void> | undefined)[] = [];
  /** Members of each set whose program wants a checkpoint. */
  readonly #wanting: Set<number>[];
  /** The next checkpoint of each set, or the patience with the one under way. */
  readonly #timers: (NodeJS.Timeout | undefined)[] = [];
  /** Of sets that have been restarted: members that have not begun their new life. */
  readonly #unbegun = new Map<number, Set<number>>();
  #isOver = false;

  constructor(options: RecoveryOptions, ports: RecoveryPorts) {
    this.#options = options;
    this.#ports = ports;
    this.#members = membersOf(options.setOf);
    this.#server = new CheckpointServer(this.#members);
    this.#policy = new CheckpointPolicy(options.checkpointInterval);
    this.#incarnations = this.#members.map(() => 0);
    this.#wanting = this.#members.map(() => new Set());
    this.#logged = options.setOf.map(() => undefined);
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
    const { setOf, folder, logBytesMax, spillFolder } = this.#options;
    const streams = [...new Set(restarts.map(({ rank }) => setOf[rank]!))].map((set) => this.#streams.get(set)!);
    for (const { set } of streams) this.#streams.delete(set);
    const folders = { checkpointFolder: folder, spillFolder };
    return {
      setOf,
      incarnations: setOf.map((set) => this.#incarnations[set]!),
      streams,
      restarts,
      ...folders,
      logBytesMax,
      beganMs: this.#wallMs,
    };
  }

  // Checkpoints

  /** All ranks have begun: checkpoints are taken from now on, spread in time so that sets do not all write at once. */
  begin(): void {
    const { length } = this.#members;
    this.#beganMs = performance.now();
    for (let set = 0; set < length; set++) {
      this.#checkpointIn(set, (this.#policy.nextMs(set, 0) * (set + 1)) / length);
    }
  }

  #checkpointLater(set: number): void {
    this.#checkpointIn(set, this.#policy.nextMs(set, performance.now() - this.#beganMs));
  }

  #checkpointIn(set: number, ms: number): void {
    clearTimeout(this.#timers[set]);
    if (this.#isOver || ms === Number.POSITIVE_INFINITY) return;
    this.#timers[set] = setTimeout(() => this.checkpoint(set), ms);
    this.#timers[set].unref();
  }

  /** A program wants a checkpoint of its own, and waits: it is taken when all members of its set want it. */
  wanted(rank: number, incarnation: number): void {
    const set = this.#options.setOf[rank]!;
    if (incarnation !== this.#incarnations[set]) return;
    const wanting = this.#wanting[set]!;
    wanting.add(rank);
    if (wanting.size < this.#members[set]!.length) return;
    wanting.clear();
    void this.#checkpointAfter(set, incarnation);
  }

  /** A program that wants one after the other gets them all: the one before is committed first. */
  async #checkpointAfter(set: number, incarnation: number): Promise<void> {
    await this.#committing[set];
    if (!this.#isOver && this.#incarnations[set] === incarnation) this.checkpoint(set);
  }

  /** Of all sets, now; one that is being taken counts. */
  checkpointAll(): void {
    for (let set = 0; set < this.#members.length; set++) if (!this.#server.isBusy(set)) this.checkpoint(set);
  }

  /** The memory of a rank's payload log was short, and most of it is kept for these sets. */
  logFull(sets: readonly number[]): void {
    for (const set of sets) {
      if (this.#options.isTypeScript) this.#warnOfLogs(set);
      else this.#askForCheckpoint(set);
    }
  }

  #warnOfLogs(set: number): void {
    if (this.#hasWarned || this.#server.newest(set).number > 0) return;
    this.#hasWarned = true;
    const ranks = this.#members[set]!.join(", ");
    this.#ports.note(
      `the payload logs of what is sent to ranks ${ranks} grow, and go to the disk, because the program takes no checkpoints; mpi.checkpoint(state) does`,
    );
  }

  #askForCheckpoint(set: number): void {
    const nowMs = performance.now();
    const isSoon = nowMs - (this.#askedMs[set] ?? Number.NEGATIVE_INFINITY) < askedMsMin;
    if (this.#isOver || isSoon || this.#server.isBusy(set) || this.#unbegun.has(set)) return;
    this.#askedMs[set] = nowMs;
    this.checkpoint(set);
  }

  checkpoint(set: number): void {
    const number = this.#server.begin(set);
    mkdirSync(this.folderOf(set, number), { recursive: true });
    const members = this.#members[set]!;
    this.#attempts[set] = {
      beganMs: performance.now(),
      settledMs: 0,
      barrierMs: Number.POSITIVE_INFINITY,
      captured: new Set(),
      capturedMs: 0,
      storedMs: 0,
    };
    this.#ports.toSet(set, { kind: "checkpoint", set, members, number });
    void this.#ports.happened({ kind: "checkpoint-asked", set, number });
    clearTimeout(this.#timers[set]);
    this.#timers[set] = setTimeout(() => this.#giveUp(set, number, ""), this.#options.checkpointPatienceMs);
    this.#timers[set].unref();
  }

  /** Where the images of a set's checkpoint are. */
  folderOf(set: number, number: number): string {
    return join(this.#options.folder, `set-${set}`, String(number));
  }

  /** A rank stands still and has been copied, perhaps written as well. When all have, they go on. */
  captured(rank: number, { number, settledMs }: CaptureFacts): void {
    const set = this.#options.setOf[rank]!;
    if (!this.#server.isOpen(set, number)) return;
    const attempt = this.#attempts[set]!;
    const members = this.#members[set]!;
    attempt.settledMs = Math.max(attempt.settledMs, settledMs);
    attempt.barrierMs = Math.min(attempt.barrierMs, settledMs);
    attempt.captured.add(rank);
    if (attempt.capturedMs > 0 || attempt.captured.size < members.length) return;
    attempt.capturedMs = performance.now() - attempt.beganMs;
    this.#policy.cost(set, attempt.capturedMs);
    this.#ports.toSet(set, { kind: "go-on", set, members });
    clearTimeout(this.#timers[set]);
  }

  /** The image of a rank is on the disk, or cannot be. */
  image(rank: number, message: RankImage): void {
    const { number, position, problem } = message;
    const set = this.#options.setOf[rank]!;
    if (!this.#server.isOpen(set, number)) return;
    this.captured(rank, message);
    const attempt = this.#attempts[set]!;
    if (problem !== "") {
      this.#giveUp(set, number, problem);
      return;
    }
    const areAllStored = this.#server.stored(set, number, rank, position);
    const happened = this.#ports.happened({ kind: "image-stored", set, number, ...this.#server.progress(set) });
    if (!areAllStored) return;
    attempt.storedMs = performance.now() - attempt.beganMs;
    this.#committing[set] = this.#commit(set, number, happened);
  }

  /** An image counts only when it can be read. */
  async #commit(set: number, number: number, happened: Promise<void>): Promise<void> {
    await happened;
    if (!this.#server.isOpen(set, number)) return;
    const folder = this.folderOf(set, number);
    const paths = this.#members[set]!.map((rank) => join(folder, `${rank}.image`));
    const problems = await Promise.all(paths.map((path) => this.#ports.verify(path)));
    const problem = problems.find((what) => what !== "") ?? "";
    if (problem !== "") {
      this.#giveUp(set, number, problem);
      return;
    }
    await this.#whenLogged(set, number);
    const commit = this.#server.commit(set, number);
    if (commit === null || this.#isOver) return;
    this.#counts.checkpoints++;
    this.#ports.progressed(set);
    const { position } = commit.oldest;
    this.#ports.logger.trim({ set, below: position });
    for (const old of commit.dropped) rmSync(this.folderOf(set, old), { recursive: true, force: true });
    this.#ports.toSet(set, { kind: "oldest", set, number: commit.oldest.number, position });
    this.#ports.oldest(set, commit.oldest.number);
    const { beganMs, captured: _, ...times } = this.#attempts[set]!;
    const whole = { set, number, ...times, committedMs: performance.now() - beganMs };
    if (this.#checkpointTimes.length < timesMax) this.#checkpointTimes.push(whole);
    this.#ports.committed(whole);
    this.#checkpointLater(set);
    void this.#ports.happened({ kind: "checkpoint-committed", set, number });
  }

  /** A restart replays from where the stream was at the image: the event logger must have come that far. */
  async #whenLogged(set: number, number: number): Promise<void> {
    while (this.#server.isOpen(set, number) && !this.#isOver) {
      const end = await this.#ports.logger.endOf(set);
      if (end !== null && ((end - this.#server.positionOfOpen(set)) | 0) >= 0) return;
      await new Promise((resolve) => setTimeout(resolve, loggedAgainMs));
    }
  }

  #giveUp(set: number, number: number, problem: string): void {
    if (!this.#server.isOpen(set, number)) return;
    this.#server.giveUp(set, number);
    this.#ports.toSet(set, { kind: "go-on", set, members: this.#members[set]! });
    rmSync(this.folderOf(set, number), { recursive: true, force: true });
    const why = problem === "" ? "a rank made no MPI call in time" : problem;
    this.#ports.note(`checkpoint ${number} of set ${set} was given up: ${why}`);
    this.#checkpointLater(set);
  }

  // Restarts

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
    this.#policy.failed();
    for (const set of sets) {
      this.#server.giveUp(set);
      this.#incarnations[set]!++;
      this.#wanting[set]!.clear();
    }
    this.#fell(sets);
    const restarts = await Promise.all(sets.map((set) => this.#restartOf(set)));
    return restarts.some((some) => some === null) ? null : restarts.flatMap((some) => some ?? []);
  }

  async #restartOf(set: number): Promise<RankRestart[] | null> {
    const { number, position } = this.#server.newest(set);
    const { position: from } = this.#server.oldest(set);
    const incarnation = this.#incarnations[set]!;
    const imageFolder = number === 0 ? "" : this.folderOf(set, number);
    const members = this.#members[set]!;
    this.#counts.ranksRestarted += members.length;
    this.#unbegun.set(set, new Set(members));
    this.#checkpointLater(set);
    const words = await this.#ports.logger.fence({ set, incarnation, from });
    if (words === null) return null;
    this.#streams.set(set, { set, from, words });
    const log = words.subarray((position - from) | 0);
    return members.map((rank) => ({ rank, incarnation, checkpoint: number, imageFolder, log }));
  }

  /** A rank has begun a life, perhaps not its first. */
  began(rank: number): void {
    const set = this.#options.setOf[rank]!;
    const loss = this.#losses.get(set);
    if (loss !== undefined) loss.runningMs = performance.now() - loss.atMs;
    const unbegun = this.#unbegun.get(set);
    unbegun?.delete(rank);
    if (unbegun?.size !== 0) return;
    this.#unbegun.delete(set);
    void this.#ports.happened({ kind: "recovery", set });
  }

  /** Who falls again on the way is behind since the first time. */
  #fell(sets: readonly number[]): void {
    const ranks = sets.flatMap((set) => this.#members[set]!);
    const earlier = sets.map((set) => this.#losses.get(set)?.atMs ?? Number.POSITIVE_INFINITY);
    const atMs = Math.min(performance.now(), ...earlier);
    const loss = { atMs, ranks, behind: new Set(ranks), runningMs: 0 };
    for (const set of sets) this.#losses.set(set, loss);
  }

  caughtUp(rank: number, incarnation: number): void {
    const set = this.#options.setOf[rank]!;
    const loss = this.#losses.get(set);
    if (loss === undefined || incarnation !== this.#incarnations[set]) return;
    loss.behind.delete(rank);
    if (loss.behind.size > 0) return;
    for (const member of loss.ranks) this.#losses.delete(this.#options.setOf[member]!);
    const { ranks, runningMs, atMs } = loss;
    const times = { ranks, runningMs, caughtUpMs: performance.now() - atMs };
    if (this.#recoveries.length < timesMax) this.#recoveries.push(times);
    this.#ports.recovered(times);
  }

  /** The program of a rank is over. */
  done(rank: number, { incarnation, logged }: RankDone): void {
    this.#logged[rank] = logged;
    this.caughtUp(rank, incarnation);
  }

  /** The image of a rank that was to begin with it cannot be read: its set begins with an older one. */
  unreadable(rank: number, checkpoint: number): void {
    const set = this.#options.setOf[rank]!;
    if (this.#server.newest(set).number === checkpoint) this.#server.refuse(set, checkpoint);
  }

  /** The job is over. Fulfilled when the event logger has said how much it was given. */
  async end(): Promise<void> {
    this.#isOver = true;
    for (const timer of this.#timers) clearTimeout(timer);
    const ends = Promise.all(this.#members.map((_, set) => this.#ports.logger.endOf(set)));
    const known = await Promise.race([
      ends,
      new Promise<null>((resolve) => setTimeout(resolve, lastAnswerMsMax, null)),
    ]);
    // Positions count words, from the beginning of the job.
    for (const end of known ?? []) this.#counts.determinantBytes += 4 * ((end ?? 0) >>> 0);
  }
}
