/**
 * Set checkpoints, simulated (§3.3.3): the ranks of a set stop one after the other, come to rest together, and are captured;
 * then they go on, and their images travel to a checkpoint server, which commits a number when it has all of them and the
 * event logger has all that was decided before. Two committed numbers are kept (rules 4 and 5).
 *
 * An attempt is given up when a rank does not stop in time; it is over when the set falls.
 */
import { assert } from "../../core/base/assert.ts";
import type { LoggingProtocol } from "../../core/ft/logging/logging-protocol.ts";
import { Settling } from "../../core/process/settling.ts";
import type { Rests } from "../interpreter/interpreter.ts";
import type { RankState, Steps } from "../interpreter/rank-state.ts";
import { imageOf, type RankImage } from "./rank-image.ts";

/** What happens in an attempt, in this order. */
export const checkpointSteps = ["asked", "stopped", "captured", "stored", "committed"] as const;
export type CheckpointStep = (typeof checkpointSteps)[number];

export interface Checkpoint {
  readonly number: number;
  /** Of the set's stream: what is behind it is replayed. */
  readonly position: number;
  /** By rank. */
  readonly images: Map<number, RankImage>;
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
  stateOf(rank: number): RankState;
  historyOf(rank: number): number;
  /** A rank that has finished shall come to rest all the same. */
  restFinished(rank: number, rest: () => Steps): void;
  /** No image of that set that is older than this one will be used any more. */
  trim(set: number, oldest: Checkpoint): void;
  happens(step: CheckpointStep, set: number): void;
}

interface Attempt {
  readonly life: CapturedLife;
  readonly number: number;
  phase: "under way" | "given up" | "over";
  readonly stopped: Set<number>;
  readonly quiet: Set<number>;
}

/** Captured, and not committed yet. */
interface Stored {
  readonly life: CapturedLife;
  readonly checkpoint: Checkpoint;
  readonly arrived: Set<number>;
}

export class Checkpoints {
  readonly #ports: CheckpointsPorts;
  readonly #attempts = new Map<number, Attempt>();
  readonly #underWay = new Map<number, Stored[]>();
  readonly #committed = new Map<number, Checkpoint[]>();
  /** Sets whose logs do not reach back to the beginning any more. */
  readonly #trimmed = new Set<number>();
  #numbers = 0;
  /** How often each step was reached; and restarts from an image, and from the one before the newest. */
  readonly counts = { asked: 0, stopped: 0, captured: 0, stored: 0, committed: 0, givenUp: 0, restored: 0, corrupt: 0 };

  constructor(ports: CheckpointsPorts) {
    this.#ports = ports;
  }

  /** The set shall be captured, unless that is under way already. */
  ask(life: CapturedLife, patienceNs: number): void {
    const before = this.#attempts.get(life.set);
    if (life.isOver || before?.phase === "under way") return;
    const attempt: Attempt = {
      ...{ life, number: ++this.#numbers, phase: "under way", stopped: new Set(), quiet: new Set() },
    };
    this.#attempts.set(life.set, attempt);
    this.#happens("asked", life.set);
    for (const rank of life.members) {
      if (this.#ports.stateOf(rank).process.state === "finished") {
        this.#ports.restFinished(rank, () => this.#rest(attempt, rank));
      }
    }
    life.later(patienceNs, () => {
      if (attempt.phase !== "under way") return;
      this.counts.givenUp++;
      attempt.phase = "given up";
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
    if (stopped.size === life.members.length) this.#happens("stopped", life.set);
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
    if (attempt.phase !== "under way") return;
    if (members.some((rank) => this.#ports.stateOf(rank).process.state === "dead")) return;
    for (const rank of members) (this.#ports.stateOf(rank).core.protocol as LoggingProtocol).captured(number);
    const images = new Map<number, RankImage>();
    const checkpoint: Checkpoint = { number, position: life.born, images };
    for (const rank of members) images.set(rank, imageOf(this.#ports.stateOf(rank), this.#ports.historyOf(rank)));
    attempt.phase = "over";
    this.#happens("captured", set);
    life.wake();
    const stored: Stored = { life, checkpoint, arrived: new Set() };
    const underWay = this.#underWay.get(set) ?? [];
    underWay.push(stored);
    this.#underWay.set(set, underWay);
    for (const rank of members) {
      life.travel(() => {
        stored.arrived.add(rank);
        if (stored.arrived.size === members.length) this.#happens("stored", set);
        this.commit(set);
      });
    }
  }

  /** Commits what can be; called again when the event logger has got something. */
  commit(set: number): void {
    const underWay = this.#underWay.get(set) ?? [];
    for (const stored of underWay) {
      const { life, checkpoint, arrived } = stored;
      if (arrived.size < life.members.length || !life.isLogged(checkpoint.position)) continue;
      underWay.splice(underWay.indexOf(stored), 1);
      this.#keep(set, checkpoint);
      return;
    }
  }

  #keep(set: number, checkpoint: Checkpoint): void {
    const committed = this.#committed.get(set) ?? [];
    this.#committed.set(set, committed);
    assert((committed.at(-1)?.number ?? 0) < checkpoint.number, "a checkpoint is committed after a newer one");
    committed.push(checkpoint);
    if (committed.length > 2) committed.shift();
    if (committed.length === 2) {
      this.#trimmed.add(set);
      this.#ports.trim(set, committed[0]!);
    }
    this.#happens("committed", set);
  }

  #happens(step: CheckpointStep, set: number): void {
    this.counts[step]++;
    this.#ports.happens(step, set);
  }

  /** The set has fallen: what its next life begins with, null: the start of the program. What is not committed never will be. */
  newest(set: number, isCorrupt: boolean): Checkpoint | null {
    this.#underWay.delete(set);
    const attempt = this.#attempts.get(set);
    if (attempt !== undefined) attempt.phase = "over";
    const committed = this.#committed.get(set) ?? [];
    if (isCorrupt && committed.length > (this.#trimmed.has(set) ? 1 : 0)) {
      committed.pop();
      this.counts.corrupt++;
    }
    const newest = committed.at(-1) ?? null;
    if (newest !== null) this.counts.restored++;
    return newest;
  }
}
