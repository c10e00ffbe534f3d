/**
 * Set checkpoints, simulated (§3.3.3): the ranks of a set stop one after the other, come to rest together, and are captured;
 * then they go on, and their images travel to a checkpoint server, which commits a number when it has all of them and the
 * event logger has all that was decided before. The server's books are the real ones (core/service/checkpoint-server.ts).
 *
 * An attempt is given up when a rank does not stop in time; it is over when the set falls.
 */
import { Settling } from "../../core/process/settling.ts";
import { CheckpointServer, type Checkpoint as Committed } from "../../core/service/checkpoint-server.ts";
import type { Rests } from "../interpreter/interpreter.ts";
import type { RankState, Steps } from "../interpreter/rank-state.ts";
import { hasHalf } from "./half-received.ts";
import { imageOf, type RankImage } from "./rank-image.ts";

/** What happens in an attempt, in this order. */
export const checkpointSteps = ["asked", "stopped", "captured", "stored", "committed"] as const;
/** `image`: one more is stored. */
export type CheckpointStep = (typeof checkpointSteps)[number] | "image";

export interface CheckpointEvent {
  readonly step: CheckpointStep;
  readonly set: number;
  /** Of the set's checkpoints, from 1. */
  readonly number: number;
  /** Images that the server has, and that there will be. */
  readonly stored: number;
  readonly wanted: number;
}

export interface Checkpoint extends Committed {
  /** By rank. */
  readonly images: ReadonlyMap<number, RankImage>;
}

/** What it needs of the one life of a set that it is about. */
export interface CapturedLife {
  readonly set: number;
  readonly members: readonly number[];
  readonly isOver: boolean;
  readonly born: number;
  /** All of the stream up to there is at the event logger. */
  isLogged(position: number): boolean;
  /** Something travels to another machine, and may get there although the set has fallen. */
  travel(act: () => void): void;
  later(delayNs: number, act: () => void): void;
  wake(): void;
}

export interface CheckpointsPorts {
  /** Members of each set; and the other way round. */
  readonly sets: readonly (readonly number[])[];
  readonly setOf: Int32Array;
  stateOf(rank: number): RankState;
  historyOf(rank: number): number;
  /** A rank that has finished shall come to rest all the same. */
  restFinished(rank: number, rest: () => Steps): void;
  /** No image of that set that is older than this one will be used any more. */
  trim(set: number, oldest: Committed): void;
  happens(event: CheckpointEvent): void;
}

interface Attempt {
  readonly life: CapturedLife;
  readonly number: number;
  phase: "under way" | "captured" | "given up" | "over";
  readonly stopped: Set<number>;
  readonly quiet: Set<number>;
  /** Where the set's stream was when it was captured. */
  position: number;
}

export class Checkpoints {
  readonly #ports: CheckpointsPorts;
  readonly #server: CheckpointServer;
  /** The last of each set. */
  readonly #attempts = new Map<number, Attempt>();
  /** By set and number, of those that were captured and may still be used. */
  readonly #images = new Map<number, Map<number, ReadonlyMap<number, RankImage>>>();
  /**
   * How often each step was reached; restarts from an image, and from the one before the newest; and what a set had of a
   * checkpoint when it fell: asked for, captured, stored by its server, in each case not more; images with half a message.
   */
  readonly counts = {
    ...{ asked: 0, stopped: 0, captured: 0, image: 0, stored: 0, committed: 0, givenUp: 0, restored: 0, corrupt: 0 },
    ...{ fellAsked: 0, fellCaptured: 0, fellStored: 0, capturedWithHalf: 0 },
  };

  constructor(ports: CheckpointsPorts) {
    this.#ports = ports;
    this.#server = new CheckpointServer(ports.sets);
  }

  /** The set shall be captured, unless that is under way already. */
  ask(life: CapturedLife, patienceNs: number): void {
    const { set } = life;
    if (life.isOver || this.#server.isBusy(set)) return;
    const number = this.#server.begin(set);
    const attempt: Attempt = {
      ...{ life, number, phase: "under way", stopped: new Set(), quiet: new Set(), position: 0 },
    };
    this.#attempts.set(set, attempt);
    this.#happens("asked", attempt);
    for (const rank of life.members) {
      if (this.#ports.stateOf(rank).process.state === "finished") {
        this.#ports.restFinished(rank, () => this.#rest(attempt, rank));
      }
    }
    life.later(patienceNs, () => {
      if (attempt.phase !== "under way") return;
      this.counts.givenUp++;
      attempt.phase = "given up";
      this.#server.giveUp(set, number);
      life.wake();
    });
    life.wake();
  }

  rests(set: number, rank: number): Rests {
    const wanted = (): Attempt | null => {
      const attempt = this.#attempts.get(set);
      return attempt?.phase === "under way" ? attempt : null;
    };
    return { isWanted: () => wanted() !== null, rest: () => this.#rest(wanted()!, rank) };
  }

  *#rest(attempt: Attempt, rank: number): Steps {
    const { life, stopped, quiet } = attempt;
    const { process, core } = this.#ports.stateOf(rank);
    stopped.add(rank);
    if (stopped.size === life.members.length) this.#happens("stopped", attempt);
    const settling = new Settling(core, life.members, attempt.number);
    let isGivenUp = false;
    yield process.settle("its set to come to rest", () => {
      isGivenUp = attempt.phase === "given up" && settling.giveUp();
      return isGivenUp || settling.advance() === "quiet";
    });
    if (isGivenUp) return;
    quiet.add(rank);
    if (quiet.size === life.members.length) this.#capture(attempt);
    yield process.settle("the others to be captured", () => attempt.phase !== "under way");
  }

  #capture(attempt: Attempt): void {
    const { life, number } = attempt;
    const { set, members } = life;
    if (attempt.phase !== "under way" || this.#hasDead(members)) return;
    for (const rank of members) this.#ports.stateOf(rank).core.protocol?.captured(number);
    const images = new Map<number, RankImage>();
    attempt.position = life.born;
    for (const rank of members) images.set(rank, imageOf(this.#ports.stateOf(rank), this.#ports.historyOf(rank)));
    const ofSet = this.#images.get(set) ?? new Map<number, ReadonlyMap<number, RankImage>>();
    this.#images.set(set, ofSet);
    ofSet.set(number, images);
    const haveHalf = members.some((rank) => hasHalf(this.#ports.stateOf(rank).process, this.#ports.setOf));
    if (haveHalf) this.counts.capturedWithHalf++;
    attempt.phase = "captured";
    this.#happens("captured", attempt);
    life.wake();
    for (const rank of members) life.travel(() => this.#store(attempt, rank));
  }

  #store(attempt: Attempt, rank: number): void {
    const { life, number, position } = attempt;
    if (!this.#server.isOpen(life.set, number)) return;
    const areAllStored = this.#server.stored(life.set, number, rank, position);
    this.#happens("image", attempt);
    if (areAllStored) this.#happens("stored", attempt);
    this.commit(life.set);
  }

  /** Commits what can be; called again when the event logger has got something. */
  commit(set: number): void {
    const attempt = this.#attempts.get(set);
    if (attempt === undefined || !this.#server.isOpen(set, attempt.number)) return;
    const { stored, wanted } = this.#server.progress(set);
    const { life, number, position } = attempt;
    if (stored < wanted || !life.isLogged(position)) return;
    const commit = this.#server.commit(set, number)!;
    attempt.phase = "over";
    for (const dropped of commit.dropped) this.#images.get(set)?.delete(dropped);
    if (commit.oldest.number > 0) this.#ports.trim(set, commit.oldest);
    this.#happens("committed", attempt);
  }

  #hasDead(members: readonly number[]): boolean {
    return members.some((rank) => this.#ports.stateOf(rank).process.state === "dead");
  }

  #happens(step: CheckpointStep, { life, number }: Attempt): void {
    const { set } = life;
    this.counts[step]++;
    this.#ports.happens({ step, set, number, ...this.#server.progress(set) });
  }

  /** The server has lost what it had not committed. Who stands still goes on. */
  serverLost(): void {
    for (const attempt of this.#attempts.values()) {
      if (!this.#server.isOpen(attempt.life.set, attempt.number)) continue;
      this.counts.givenUp++;
      this.#server.giveUp(attempt.life.set);
      if (attempt.phase === "under way") attempt.phase = "given up";
      attempt.life.wake();
    }
  }

  /** The set is declared dead: what is not committed never will be. */
  fell(set: number): void {
    const attempt = this.#attempts.get(set);
    if (attempt === undefined) return;
    if (this.#server.isOpen(set, attempt.number)) {
      const { stored, wanted } = this.#server.progress(set);
      if (attempt.phase !== "captured") this.counts.fellAsked++;
      else if (stored < wanted) this.counts.fellCaptured++;
      else this.counts.fellStored++;
      this.#server.giveUp(set);
    }
    attempt.phase = "over";
  }

  /** What the next life of a set that has fallen begins with; null: the start of the program. */
  newest(set: number, isCorrupt: boolean): Checkpoint | null {
    if (isCorrupt && this.#server.refuse(set, this.#server.newest(set).number)) this.counts.corrupt++;
    const newest = this.#server.newest(set);
    if (newest.number === 0) return null;
    this.counts.restored++;
    return { ...newest, images: this.#images.get(set)!.get(newest.number)! };
  }
}
