/**
 * Checkpoints of the sets of a job: when they are taken, and the result of each attempt. This part is fed events and their times
 * (milliseconds of any monotonic clock) and calls its ports; the host has the images, and one timer for `nextTimeMs`. The checkpoint
 * server's books say which numbers count.
 *
 * An attempt: the members of the set are asked to stop; when all have been captured they go on; when all images are stored they are
 * read back; when all can be read and the protocol agrees, the checkpoint counts. Each step may fail, and the set may fall at each:
 * then the attempt is given up, its images are dropped, and there is another one later. A set that has fallen is not asked until all
 * its members have begun their next life.
 */
import type { FaultEvent } from "../fault/moment.ts";
import type { Checkpoint } from "../ft/checkpoint.ts";
import type { Interval } from "../ft/definition.ts";
import { CheckpointPolicy } from "./checkpoint-policy.ts";
import { type CheckpointRecord, CheckpointServer, newBooks, type SetBooks } from "./checkpoint-server.ts";
import { CheckpointTrouble } from "./checkpoint-trouble.ts";

interface SetCheckpointsOptions {
  /** Set of each rank, and the ranks of each set. */
  readonly setOf: readonly number[];
  readonly members: readonly (readonly number[])[];
  /** Time between two checkpoints of a set. */
  readonly checkpointInterval: Interval;
  /** A member that has not come to an MPI call by then: the attempt is given up, and repeated later. */
  readonly checkpointPatienceMs: number;
  /** Full logs ask a set for a checkpoint no more often than that; a second unless given. */
  readonly forLogsMsMin?: number | undefined;
}

/** How long one checkpoint of a set took. */
export interface CheckpointTimes {
  readonly set: number;
  readonly number: number;
  /** From the stop of the first member, and of the last one, until nothing was under way in the set. */
  readonly settledMs: number;
  readonly barrierMs: number;
  /** From the wish until all members had been copied and went on; until all images were written; until they counted. */
  readonly capturedMs: number;
  readonly storedMs: number;
  readonly committedMs: number;
}

/** A member of a set stands still and has been copied. */
export interface Capture {
  /** Of the checkpoint. */
  readonly number: number;
  /** See `Checkpoint`. */
  readonly position: number;
  /** How many calls the rank had passed. */
  readonly callsPassed: number;
  /** From the stop until nothing was under way any more between the ranks that are captured together. */
  readonly settledMs: number;
}

/** The oldest and the newest checkpoint that may still be restored; all members of a set have images of both. */
export interface KeptNumbers {
  readonly oldest: number;
  readonly newest: number;
}

/** Orders to the host of the images and to the nodes, and questions to the protocol. */
export interface SetCheckpointsPorts {
  /** A decision, to be written down before this returns. */
  record(record: CheckpointRecord): void;
  /** The members of the set shall stop inside an MPI call, and write images of themselves when all have. `kept`: the numbers that count. */
  stop(set: number, number: number, kept: KeptNumbers): void;
  /** All have been captured, or the attempt was given up: the members go on. */
  goOn(set: number): void;
  /**
   * All images of the checkpoint are stored: read them back, when all is known that is to happen at this moment (`happened`).
   * Answered by `verified`.
   */
  verify(set: number, number: number): void;
  /** See `JobPart.mayCommit`. */
  mayCommit(set: number, position: number): boolean;
  /** The images of that checkpoint, as far as they are stored, are not needed any more. */
  drop(set: number, number: number): void;
  /** No older image of that set will be restored. */
  oldest(set: number, oldest: Checkpoint): void;
  /** A checkpoint counts from now on; its ranks had passed `callsPassed` calls together. */
  committed(times: CheckpointTimes, callsPassed: number): void;
  /** For fault plans. */
  happened(event: FaultEvent): void;
  note(message: string): void;
}

/** The facts that are known of the lives of a set. */
interface SetLives {
  incarnationOf(set: number): number;
  /** Have all members of the set begun its present life? */
  hasBegun(set: number): boolean;
}

interface Attempt {
  readonly number: number;
  readonly beganMs: number;
  readonly stopped: Set<number>;
  readonly captured: Set<number>;
  settledMs: number;
  barrierMs: number;
  callsPassed: number;
  /** Since it began; null: not all of them are. */
  capturedMs: number | null;
  storedMs: number | null;
  /** All images have been read back. */
  isVerified: boolean;
}

interface SetState {
  /** The attempt under way; null: none. */
  attempt: Attempt | null;
  /** When the next attempt begins, or the patience with the one under way ends. Infinity: something else happens first. */
  dueMs: number;
  /** Another attempt begins as soon as there can be one. */
  isNextWanted: boolean;
  /** Members whose program wants a checkpoint. */
  readonly wanting: Set<number>;
  /** When full logs last led to an attempt. */
  forLogsMs: number;
  /** Numbers whose images turned out to be unreadable. */
  readonly refused: number[];
  /** Members that have been captured stand still: somebody wants to take one of them away. */
  isHeld: boolean;
  /** The checkpoint since which they do; 0: they run. */
  standsAt: number;
}

const forLogsMsMinDefault = 1000;
/** How much longer than for an MPI call ranks are waited for that write their images. */
const writingPatiences = 30;

export class SetCheckpoints {
  readonly #options: SetCheckpointsOptions;
  readonly #ports: SetCheckpointsPorts;
  readonly #lives: SetLives;
  readonly #server: CheckpointServer;
  readonly #policy: CheckpointPolicy;
  readonly #trouble = new CheckpointTrouble();
  readonly #sets: SetState[];
  #beganMs = 0;
  #isOver = false;

  /** `books`: changed by records only; those of a predecessor, perhaps. */
  constructor(
    options: SetCheckpointsOptions,
    lives: SetLives,
    ports: SetCheckpointsPorts,
    books: readonly SetBooks[] = options.members.map(() => newBooks()),
  ) {
    this.#options = options;
    this.#ports = ports;
    this.#lives = lives;
    this.#server = new CheckpointServer(options.members, (record) => ports.record(record), books);
    this.#policy = new CheckpointPolicy(options.checkpointInterval);
    this.#sets = options.members.map(() => newSet());
  }

  /** There is one more set. */
  add(): void {
    this.#server.add();
    this.#sets.push(newSet());
  }

  /** When `time` should be called next; Infinity: there is no need to. Any call may change it. */
  get nextTimeMs(): number {
    return this.#sets.reduce((least, { dueMs }) => Math.min(least, dueMs), Number.POSITIVE_INFINITY);
  }

  time(nowMs: number): void {
    for (const [set, state] of this.#sets.entries()) {
      if (state.dueMs > nowMs) continue;
      state.dueMs = Number.POSITIVE_INFINITY;
      if (state.attempt === null) this.#take(set, nowMs);
      else {
        const haveStopped = state.attempt.stopped.size === this.#options.members[set]!.length;
        this.#giveUp(set, haveStopped ? "an image was not written in time" : "a rank made no MPI call in time", nowMs);
      }
    }
  }

  /** All ranks have begun: checkpoints are taken from now on, spread in time so that sets do not all write at once. */
  begin(nowMs: number): void {
    const { length } = this.#sets;
    this.#beganMs = nowMs;
    for (const [set, state] of this.#sets.entries()) {
      if (state.attempt === null) state.dueMs = nowMs + (this.#policy.nextMs(set, 0) * (set + 1)) / length;
    }
  }

  /**
   * A predecessor has crashed. Its attempts are given up, because their progress is not known; nodes let their ranks go on when the
   * successor asks them for their state. Its last commits may not have been told. Checkpoints are taken as at the beginning.
   */
  takeOver(nowMs: number): void {
    for (const set of this.#sets.keys()) {
      const number = this.#server.open(set);
      this.#server.giveUp(set);
      if (number !== null) this.#ports.drop(set, number);
      this.#ports.oldest(set, this.#server.oldest(set));
    }
    this.begin(nowMs);
  }

  /** The checkpoint with which the next life of a set begins. */
  newest(set: number): Checkpoint {
    return this.#server.newest(set);
  }

  /** The oldest that may still be restored. */
  oldest(set: number): Checkpoint {
    return this.#server.oldest(set);
  }

  /** Is that checkpoint being taken, or read back? Otherwise it counts already, or never will. */
  isOpen(set: number, number: number): boolean {
    return this.#server.isOpen(set, number);
  }

  /** These sets were lost together: wishes and attempts of their lives are void. The best interval depends on how often that happens. */
  fell(sets: readonly number[], nowMs: number): void {
    this.#policy.failed();
    for (const set of sets) {
      this.#discard(set);
      const state = this.#sets[set]!;
      state.wanting.clear();
      state.isNextWanted = false;
      state.isHeld = false;
      state.standsAt = 0;
      this.#takeLater(set, nowMs);
    }
  }

  /** All members of a set that had fallen have begun their next life. */
  begun(set: number, nowMs: number): void {
    this.#takeIfWanted(set, nowMs);
  }

  /** The job is over: nothing is taken and nothing counts any more. */
  end(): void {
    this.#isOver = true;
    for (const state of this.#sets) state.dueMs = Number.POSITIVE_INFINITY;
  }

  // Wishes

  /** A program wants a checkpoint of its own, and waits: it is taken when all members of its set want it. */
  wanted(rank: number, incarnation: number, nowMs: number): void {
    const set = this.#options.setOf[rank]!;
    if (incarnation !== this.#lives.incarnationOf(set)) return;
    const state = this.#sets[set]!;
    state.wanting.add(rank);
    if (state.wanting.size < this.#options.members[set]!.length) return;
    state.wanting.clear();
    // A program that wants one after the other gets them all: one that has been captured may count first.
    if (state.attempt !== null && state.attempt.capturedMs !== null) state.isNextWanted = true;
    else this.#take(set, nowMs);
  }

  /** Of that set, now; one that is being taken counts. */
  take(set: number, nowMs: number): void {
    if (this.#sets[set]!.attempt === null) this.#take(set, nowMs);
  }

  /** The same; its members do not go on when they have been captured, until they fall or are let go. */
  takeAndHold(set: number, nowMs: number): void {
    const state = this.#sets[set]!;
    state.isHeld = true;
    // Members may have stopped for the one under way: nobody would tell them to go on.
    if (state.attempt === null || state.attempt.capturedMs !== null) this.#take(set, nowMs);
  }

  /** Members that stand still, if they do, go on. */
  letGo(set: number): void {
    const state = this.#sets[set]!;
    if (state.standsAt !== 0) this.#ports.goOn(set);
    state.isHeld = false;
    state.standsAt = 0;
  }

  /** Do all members of the set stand still since its newest checkpoint? */
  standsStill(set: number): boolean {
    const { standsAt } = this.#sets[set]!;
    return standsAt !== 0 && standsAt === this.newest(set).number;
  }

  /** The same of all sets. */
  takeAll(nowMs: number): void {
    for (const set of this.#sets.keys()) this.take(set, nowMs);
  }

  /** Logs are full that checkpoints of these sets would trim. */
  takeForLogs(sets: readonly number[], nowMs: number): void {
    const { forLogsMsMin = forLogsMsMinDefault } = this.#options;
    for (const set of sets) {
      const state = this.#sets[set]!;
      const isSoon = nowMs - state.forLogsMs < forLogsMsMin;
      if (isSoon || state.attempt !== null || !this.#lives.hasBegun(set)) continue;
      state.forLogsMs = nowMs;
      this.#take(set, nowMs);
    }
  }

  // One attempt

  #take(set: number, nowMs: number): void {
    if (this.#isOver) return;
    const state = this.#sets[set]!;
    state.isNextWanted = !this.#lives.hasBegun(set);
    if (state.isNextWanted) return;
    this.#discard(set);
    const number = this.#server.begin(set);
    state.attempt = {
      number,
      beganMs: nowMs,
      stopped: new Set(),
      captured: new Set(),
      settledMs: 0,
      barrierMs: Number.POSITIVE_INFINITY,
      callsPassed: 0,
      capturedMs: null,
      storedMs: null,
      isVerified: false,
    };
    state.dueMs = nowMs + this.#options.checkpointPatienceMs;
    this.#ports.stop(set, number, { oldest: this.oldest(set).number, newest: this.newest(set).number });
    this.#ports.happened({ kind: "checkpoint-asked", set, number });
  }

  #takeLater(set: number, nowMs: number): void {
    if (!this.#isOver) this.#sets[set]!.dueMs = nowMs + this.#policy.nextMs(set, nowMs - this.#beganMs);
  }

  #takeIfWanted(set: number, nowMs: number): void {
    if (this.#sets[set]!.isNextWanted) this.#take(set, nowMs);
  }

  /** The attempt of that number, if it is the one under way. */
  #attempt(set: number, number: number): Attempt | null {
    const { attempt } = this.#sets[set]!;
    return attempt?.number === number ? attempt : null;
  }

  /**
   * A rank has stopped inside an MPI call. When all members have, only their images are waited for: writing them takes as long
   * as their memories are large and the disk is slow.
   */
  stopped(rank: number, number: number, nowMs: number): void {
    const set = this.#options.setOf[rank]!;
    const attempt = this.#attempt(set, number);
    if (attempt === null || attempt.capturedMs !== null) return;
    attempt.stopped.add(rank);
    if (attempt.stopped.size < this.#options.members[set]!.length) return;
    this.#sets[set]!.dueMs = nowMs + writingPatiences * this.#options.checkpointPatienceMs;
  }

  /** A rank stands still and its image is in a file, durable or not. When all have, they go on. */
  captured(rank: number, { number, settledMs, callsPassed }: Capture, nowMs: number): void {
    const set = this.#options.setOf[rank]!;
    const attempt = this.#attempt(set, number);
    if (attempt === null) return;
    attempt.settledMs = Math.max(attempt.settledMs, settledMs);
    attempt.barrierMs = Math.min(attempt.barrierMs, settledMs);
    if (!attempt.captured.has(rank)) attempt.callsPassed += callsPassed;
    attempt.captured.add(rank);
    if (attempt.capturedMs !== null || attempt.captured.size < this.#options.members[set]!.length) return;
    attempt.capturedMs = nowMs - attempt.beganMs;
    this.#policy.cost(set, attempt.capturedMs);
    const state = this.#sets[set]!;
    state.dueMs = Number.POSITIVE_INFINITY;
    if (state.isHeld) state.standsAt = number;
    else this.#ports.goOn(set);
  }

  /** The image of a rank is stored, or cannot be: `problem` is not empty. */
  imageStored(rank: number, capture: Capture & { readonly problem: string }, nowMs: number): void {
    const { number, position, problem } = capture;
    const set = this.#options.setOf[rank]!;
    this.captured(rank, capture, nowMs);
    const attempt = this.#attempt(set, number);
    if (attempt === null) return;
    if (problem !== "") {
      this.#giveUp(set, problem, nowMs);
      return;
    }
    const areAllStored = this.#server.stored(set, number, rank, position);
    if (areAllStored) attempt.storedMs = nowMs - attempt.beganMs;
    this.#ports.happened({ kind: "image-stored", set, number, ...this.#server.progress(set) });
    // A fault that was planned for this moment may have ended the attempt.
    if (areAllStored && this.isOpen(set, number)) this.#ports.verify(set, number);
  }

  /** The images have been read back. An image counts only when it can be read. */
  verified(set: number, number: number, problem: string, nowMs: number): void {
    const attempt = this.#attempt(set, number);
    if (attempt === null) return;
    if (problem !== "") {
      this.#giveUp(set, problem, nowMs);
      return;
    }
    attempt.isVerified = true;
    this.mayCommit(set, nowMs);
  }

  /** The protocol may have changed its mind about the checkpoint of that set. */
  mayCommit(set: number, nowMs: number): void {
    const state = this.#sets[set]!;
    const { attempt } = state;
    if (attempt === null || !attempt.isVerified || this.#isOver) return;
    if (!this.#ports.mayCommit(set, this.#server.positionOfOpen(set))) return;
    const { number, beganMs, settledMs, barrierMs, callsPassed } = attempt;
    const commit = this.#server.commit(set, number);
    if (commit === null) return;
    state.attempt = null;
    for (const old of commit.dropped) this.#ports.drop(set, old);
    state.refused.length = 0;
    this.#say(this.#trouble.committed(set));
    this.#ports.oldest(set, commit.oldest);
    const sinceMs = nowMs - beganMs;
    const { capturedMs, storedMs } = attempt;
    const times = { capturedMs: capturedMs ?? sinceMs, storedMs: storedMs ?? sinceMs, committedMs: sinceMs };
    this.#ports.committed({ set, number, settledMs, barrierMs, ...times }, callsPassed);
    this.#takeLater(set, nowMs);
    this.#ports.happened({ kind: "checkpoint-committed", set, number });
    this.#takeIfWanted(set, nowMs);
  }

  /** The checkpoint under way will never count: its images that are stored already are not needed. */
  #discard(set: number): void {
    const state = this.#sets[set]!;
    if (state.attempt === null) return;
    const { number } = state.attempt;
    state.attempt = null;
    this.#server.giveUp(set, number);
    this.#ports.drop(set, number);
  }

  #giveUp(set: number, why: string, nowMs: number): void {
    const { attempt } = this.#sets[set]!;
    if (attempt === null) return;
    this.#sets[set]!.standsAt = 0;
    this.#ports.goOn(set);
    this.#discard(set);
    this.#say(this.#trouble.gaveUp(set, attempt.number, why));
    this.#takeLater(set, nowMs);
    this.#takeIfWanted(set, nowMs);
  }

  #say(message: string | null): void {
    if (message !== null) this.#ports.note(message);
  }

  // Images that turn out to be no good when they are needed

  /**
   * The image of a rank that was to begin with it cannot be read: its set begins with an older one. Empty, or why it cannot: no
   * image is left, and nothing reaches back to the beginning once two checkpoints have counted.
   */
  unreadable(set: number, number: number): string {
    // Otherwise another rank of the set has found the same.
    if (this.#server.newest(set).number !== number) return "";
    const { refused } = this.#sets[set]!;
    refused.push(number);
    if (this.#server.refuse(set, number)) {
      this.#ports.drop(set, number);
      return "";
    }
    const ranks = this.#options.members[set]!;
    const named = `rank${ranks.length === 1 ? "" : "s"} ${ranks.join(", ")}`;
    const which = `checkpoint${refused.length === 1 ? "" : "s"} ${refused.join(" and ")}`;
    return `Cannot start ${named} again: ${which} cannot be read, and what came before is not in the logs any more; check the disk and start the job again`;
  }
}

const newSet = (): SetState => ({
  attempt: null,
  dueMs: Number.POSITIVE_INFINITY,
  isNextWanted: false,
  wanting: new Set(),
  forLogsMs: Number.NEGATIVE_INFINITY,
  refused: [],
  isHeld: false,
  standsAt: 0,
});
