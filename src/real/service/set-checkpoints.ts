/**
 * Checkpoints of the correlated sets of a job: when they are taken, what becomes of each attempt, and the images on disk. Which
 * numbers count, the checkpoint server's core says.
 */
import { join } from "node:path";
import type { FaultEvent } from "../../core/fault/moment.ts";
import { CheckpointPolicy, type Interval } from "../../core/service/checkpoint-policy.ts";
import { type Checkpoint, CheckpointServer } from "../../core/service/checkpoint-server.ts";
import { CheckpointTrouble } from "../../core/service/checkpoint-trouble.ts";
import { fetchedFolder, folderOfCheckpoint } from "../checkpoint-server/image-key.ts";
import type { CheckpointTimes } from "../logging/logging-report.ts";
import { imagePath } from "../node/image-path.ts";
import type { ToNode } from "../node/messages.ts";
import type { CaptureFacts, RankImage } from "../node/rank-messages.ts";
import { Removals } from "./removals.ts";

export interface SetCheckpointsOptions {
  /** Correlated set of each rank, and the ranks of each. */
  readonly setOf: readonly number[];
  readonly members: readonly (readonly number[])[];
  /** For the images; nodes make it when the first is taken. */
  readonly folder: string;
  /** Sockets of the checkpoint servers; none: the images stay in the folder. */
  readonly checkpointServers: readonly string[];
  /** Time between two checkpoints of a set. */
  readonly checkpointInterval: Interval;
  /** A member that has not come to an MPI call by then: the attempt is given up, and repeated later. */
  readonly checkpointPatienceMs: number;
  /** Are checkpoints the program's own business? */
  readonly isTypeScript: boolean;
}

export interface SetCheckpointsPorts {
  /** To the node that has the set's ranks. */
  toSet(set: number, message: ToNode): void;
  /** Which life of a set is the present one, and have all its members begun it? */
  incarnationOf(set: number): number;
  hasBegun(set: number): boolean;
  /** Reads images in the folder back: what is wrong with the first that is no good, empty if nothing. A server does that itself. */
  verify(paths: readonly string[]): Promise<string>;
  /** Nobody will ask a server for that one any more. */
  dropped(set: number, number: number): void;
  /** For fault plans: whatever was to happen then has, and is known, when the promise is fulfilled. */
  happened(event: FaultEvent): Promise<void>;
  /** Where the stream of a set ends that the event logger has; null: that is not known at the moment. */
  endOfStream(set: number): Promise<number | null>;
  note(message: string): void;
  /** A checkpoint counts from now on. */
  committed(times: CheckpointTimes, committed: Committed): void;
}

export interface Committed {
  /** No older one will be restored. */
  readonly oldest: Checkpoint;
  /** How many calls all ranks of the set had passed. */
  readonly callsPassed: number;
}

/** How long the checkpoint under way has taken so far. */
interface Attempt {
  readonly beganMs: number;
  settledMs: number;
  barrierMs: number;
  readonly captured: Set<number>;
  callsPassed: number;
  /** When all had been copied and could go on; 0: not yet. */
  capturedMs: number;
  storedMs: number;
}

/** Full logs ask a set for a checkpoint no more often than that. */
const askedMsMin = 1000;
/** Until the event logger is asked again how far it has come. */
const loggedAgainMs = 5;

export class SetCheckpoints {
  readonly #options: SetCheckpointsOptions;
  readonly #ports: SetCheckpointsPorts;
  readonly #server: CheckpointServer;
  readonly #policy: CheckpointPolicy;
  readonly #trouble = new CheckpointTrouble();
  /** Numbers of each set whose images turned out to be unreadable. */
  readonly #refused: number[][];
  #beganMs = 0;
  readonly #attempts: Attempt[] = [];
  /** The images that are being read back, of each set. */
  readonly #committing: (Promise<void> | undefined)[] = [];
  /** Members of each set whose program wants a checkpoint. */
  readonly #wanting: Set<number>[];
  /** When a full log last led to a checkpoint, of each set. */
  readonly #askedMs: (number | undefined)[] = [];
  #hasWarned = false;
  /** The next checkpoint of each set, or the patience with the one under way. */
  readonly #timers: (NodeJS.Timeout | undefined)[] = [];
  readonly #removals = new Removals();
  #isOver = false;

  constructor(options: SetCheckpointsOptions, ports: SetCheckpointsPorts) {
    this.#options = options;
    this.#ports = ports;
    this.#server = new CheckpointServer(options.members);
    this.#policy = new CheckpointPolicy(options.checkpointInterval);
    this.#wanting = options.members.map(() => new Set());
    this.#refused = options.members.map(() => []);
  }

  /** All ranks have begun: checkpoints are taken from now on, spread in time so that sets do not all write at once. */
  begin(): void {
    const { length } = this.#options.members;
    this.#beganMs = performance.now();
    for (let set = 0; set < length; set++) {
      this.#takeIn(set, (this.#policy.nextMs(set, 0) * (set + 1)) / length);
    }
  }

  /** What the next life of a set begins with, and where its images are; empty: there are none. */
  newest(set: number): Checkpoint & { readonly imageFolder: string } {
    const newest = this.#server.newest(set);
    return { ...newest, imageFolder: newest.number === 0 ? "" : this.#imageFolderOf(set, newest.number) };
  }

  /** The oldest that may still be restored. */
  oldest(set: number): Checkpoint {
    return this.#server.oldest(set);
  }

  /** A set begins another life: what the one before wanted or had begun is void. */
  setFell(set: number): void {
    this.#discardOpen(set);
    this.#wanting[set]!.clear();
    this.#takeLater(set);
  }

  /** Something was lost; the best interval depends on how often. */
  failed(): void {
    this.#policy.failed();
  }

  /**
   * The image of a rank that was to begin with it cannot be read: its set begins with an older one. Empty, or why it cannot: no
   * image is left, and the logs do not reach back to the beginning once two checkpoints have been committed.
   */
  unreadable(set: number, checkpoint: number): string {
    if (this.#server.newest(set).number !== checkpoint) return "";
    this.#refused[set]!.push(checkpoint);
    if (this.#server.refuse(set, checkpoint)) {
      this.#drop(set, checkpoint);
      return "";
    }
    const ranks = this.#options.members[set]!;
    const who = `rank${ranks.length === 1 ? "" : "s"} ${ranks.join(", ")}`;
    const which = `checkpoint${this.#refused[set]!.length === 1 ? "" : "s"} ${this.#refused[set]!.join(" and ")}`;
    return `Cannot start ${who} again: ${which} cannot be read, and what came before is not in the logs any more; check the disk and start the job again`;
  }

  end(): void {
    this.#isOver = true;
    this.#removals.end();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  // When

  /** A program wants a checkpoint of its own, and waits: it is taken when all members of its set want it. */
  wanted(rank: number, incarnation: number): void {
    const set = this.#options.setOf[rank]!;
    if (incarnation !== this.#ports.incarnationOf(set)) return;
    const wanting = this.#wanting[set]!;
    wanting.add(rank);
    if (wanting.size < this.#options.members[set]!.length) return;
    wanting.clear();
    void this.#takeAfter(set, incarnation);
  }

  /** Of all sets, now; one that is being taken counts. */
  takeAll(): void {
    for (const set of this.#options.members.keys()) if (!this.#server.isBusy(set)) this.#take(set);
  }

  /** The memory of a rank's payload log was short, and most of it is kept for these sets. */
  logFull(sets: readonly number[]): void {
    for (const set of sets) {
      if (this.#options.isTypeScript) this.#warnOfLogs(set);
      else this.#takeForLogs(set);
    }
  }

  #warnOfLogs(set: number): void {
    if (this.#hasWarned || this.#server.newest(set).number > 0) return;
    this.#hasWarned = true;
    const ranks = this.#options.members[set]!.join(", ");
    this.#ports.note(
      `the payload logs of what is sent to ranks ${ranks} grow, and go to the disk, because the program takes no checkpoints; mpi.checkpoint(state) does`,
    );
  }

  #takeForLogs(set: number): void {
    const nowMs = performance.now();
    const isSoon = nowMs - (this.#askedMs[set] ?? Number.NEGATIVE_INFINITY) < askedMsMin;
    if (this.#isOver || isSoon || this.#server.isBusy(set) || !this.#ports.hasBegun(set)) return;
    this.#askedMs[set] = nowMs;
    this.#take(set);
  }

  /** A program that wants one after the other gets them all: the one before is committed first. */
  async #takeAfter(set: number, incarnation: number): Promise<void> {
    await this.#committing[set];
    if (!this.#isOver && this.#ports.incarnationOf(set) === incarnation) this.#take(set);
  }

  #takeLater(set: number): void {
    this.#takeIn(set, this.#policy.nextMs(set, performance.now() - this.#beganMs));
  }

  #takeIn(set: number, ms: number): void {
    clearTimeout(this.#timers[set]);
    if (this.#isOver || ms === Number.POSITIVE_INFINITY) return;
    this.#timers[set] = setTimeout(() => this.#take(set), ms);
    this.#timers[set].unref();
  }

  // One attempt

  #take(set: number): void {
    this.#discardOpen(set);
    const number = this.#server.begin(set);
    const members = this.#options.members[set]!;
    this.#attempts[set] = {
      beganMs: performance.now(),
      settledMs: 0,
      barrierMs: Number.POSITIVE_INFINITY,
      captured: new Set(),
      callsPassed: 0,
      capturedMs: 0,
      storedMs: 0,
    };
    this.#ports.toSet(set, { kind: "checkpoint", set, members, number });
    void this.#ports.happened({ kind: "checkpoint-asked", set, number });
    clearTimeout(this.#timers[set]);
    this.#timers[set] = setTimeout(() => this.#giveUp(set, number, ""), this.#options.checkpointPatienceMs);
    this.#timers[set].unref();
  }

  /** Where ranks find the images that they go on from. */
  #imageFolderOf(set: number, number: number): string {
    const { folder, checkpointServers } = this.#options;
    return checkpointServers.length === 0 ? this.#folderOf(set, number) : join(fetchedFolder(folder, set), `${number}`);
  }

  /** Where the images of a set's checkpoint are. */
  #folderOf(set: number, number: number): string {
    return folderOfCheckpoint(this.#options.folder, set, number);
  }

  /** A rank stands still and has been copied, perhaps written as well. When all have, they go on. */
  captured(rank: number, { number, settledMs, callsPassed }: CaptureFacts): void {
    const set = this.#options.setOf[rank]!;
    if (!this.#server.isOpen(set, number)) return;
    const attempt = this.#attempts[set]!;
    const members = this.#options.members[set]!;
    attempt.settledMs = Math.max(attempt.settledMs, settledMs);
    attempt.barrierMs = Math.min(attempt.barrierMs, settledMs);
    if (!attempt.captured.has(rank)) attempt.callsPassed += callsPassed;
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
    const paths = this.#options.checkpointServers.length > 0 ? [] : this.#pathsOf(set, number);
    const problem = paths.length === 0 ? "" : await this.#ports.verify(paths);
    if (problem !== "") {
      this.#giveUp(set, number, problem);
      return;
    }
    await this.#whenLogged(set, number);
    const commit = this.#server.commit(set, number);
    if (commit === null || this.#isOver) return;
    for (const old of commit.dropped) this.#drop(set, old);
    this.#refused[set] = [];
    this.#say(this.#trouble.committed(set));
    this.#ports.toSet(set, { kind: "oldest", set, ...commit.oldest });
    const { beganMs, captured: _, callsPassed, ...times } = this.#attempts[set]!;
    const whole = { set, number, ...times, committedMs: performance.now() - beganMs };
    this.#ports.committed(whole, { oldest: commit.oldest, callsPassed });
    this.#takeLater(set);
    void this.#ports.happened({ kind: "checkpoint-committed", set, number });
  }

  /** A restart replays from where the stream was at the image: the event logger must have come that far. */
  async #whenLogged(set: number, number: number): Promise<void> {
    while (this.#server.isOpen(set, number) && !this.#isOver) {
      const end = await this.#ports.endOfStream(set);
      if (end !== null && ((end - this.#server.positionOfOpen(set)) | 0) >= 0) return;
      await new Promise((resolve) => setTimeout(resolve, loggedAgainMs));
    }
  }

  #pathsOf(set: number, number: number): string[] {
    return this.#options.members[set]!.map((rank) => imagePath(this.#folderOf(set, number), rank));
  }

  #drop(set: number, number: number): void {
    this.#removals.remove(this.#folderOf(set, number));
    this.#ports.dropped(set, number);
  }

  /** What is being taken will never be committed: nobody needs the images that are there already. */
  #discardOpen(set: number): void {
    const open = this.#server.open(set);
    if (open === null) return;
    this.#server.giveUp(set, open);
    this.#drop(set, open);
  }

  #giveUp(set: number, number: number, problem: string): void {
    if (!this.#server.isOpen(set, number)) return;
    this.#server.giveUp(set, number);
    this.#ports.toSet(set, { kind: "go-on", set, members: this.#options.members[set]! });
    this.#drop(set, number);
    const why = problem === "" ? "a rank made no MPI call in time" : problem;
    this.#say(this.#trouble.gaveUp(set, number, why));
    this.#takeLater(set);
  }

  #say(message: string | null): void {
    if (message !== null) this.#ports.note(message);
  }
}
