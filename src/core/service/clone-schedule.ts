/**
 * Which lost replica is made anew next, from which living one, in which life: the dispatcher's decisions about clones
 * (`CloneBeginning`). One clone is
 * made at a time, in the order of the losses: what an attempt stands on (who lives, in which life) does not change under it but by
 * deaths.
 *
 *   copying   the memory of the source goes to where the clone will be, and the source runs; nobody else knows
 *   asked     the source prepares, and takes its image when it can
 *   moving    its image is on its way to where the clone will be
 *   joining   the clone has begun, and makes itself known
 *
 * The source may die until the clone has begun: then the attempt is over, and another one begins, from another replica if there is one. Once the
 * clone has begun it needs its source no more. The death of the clone is the death of a process like any other.
 *
 * A replica that shall go on elsewhere is the source of its own next life, by the same steps (ADR 79). It lives all the time: an attempt that comes to nothing leaves it where it is, and is not
 * repeated. The lost come first.
 */
import type { ProcessName } from "../base/identity.ts";

export interface CloneAttempt {
  readonly clone: ProcessName;
  readonly life: number;
  /** Of the same rank; the replica itself: it goes on elsewhere. */
  readonly source: number;
}

/** Does a living replica go on elsewhere? Otherwise a lost one comes back. */
export const isMove = ({ clone, source }: CloneAttempt): boolean => clone.replica === source;

interface CloneSchedulePorts {
  /** The memory of the source shall be copied as long as that makes its pause shorter; answered by `copied`, now or later. */
  copy(attempt: CloneAttempt): void;
  /** The source shall prepare, and take its image. */
  ask(attempt: CloneAttempt): void;
  /** The clone will not come: everybody must hear that its life is over. A replica that was to be moved, and lives, must hear that it stays. */
  giveUp(attempt: CloneAttempt): void;
  /** Is there a node for it, or will there be one? Without it stays lost: a source that was asked would wait, and others behind it. */
  hasPlace(clone: ProcessName): boolean;
}

type Step = "copying" | "asked" | "moving" | "joining";

/** A replica whose clones have failed so often is left alone: something else is wrong. */
const attemptsMax = 5;

export class CloneSchedule {
  /** By rank, by replica. */
  readonly #alive: boolean[][];
  /**
   * By rank: the replica that performs what the program does to files, −1: none lives. It is replica 0, and when it dies the next that lives, in
   * cyclic order; whoever comes back leaves that as it is. Clones are made from it: what files have come to is known there, and the
   * others do not wait for a clone whose source waits for them.
   */
  readonly #performers: number[];
  readonly #ports: CloneSchedulePorts;
  /** Oldest loss first. */
  readonly #lost: ProcessName[] = [];
  /** Replicas that shall go on elsewhere, in order. */
  #wanted: ProcessName[] = [];
  readonly #attempts = new Map<string, number>();
  /** Ranks of which no image can be taken any more: their programs are over, or cannot be captured. */
  readonly #closed = new Set<number>();
  #clones = 0;
  #present: (CloneAttempt & { step: Step }) | null = null;

  /** `plan`: how many processes play each rank. */
  constructor(plan: readonly number[], ports: CloneSchedulePorts) {
    this.#alive = plan.map((there) => new Array<boolean>(there).fill(true));
    this.#performers = plan.map(() => 0);
    this.#ports = ports;
  }

  get present(): (CloneAttempt & { readonly step: Step }) | null {
    return this.#present;
  }

  /** Is that attempt under way? */
  isPresent(attempt: CloneAttempt): boolean {
    return this.#presentIs(attempt) !== null;
  }

  isAlive({ rank, replica }: ProcessName): boolean {
    return this.#alive[rank]![replica] === true;
  }

  /** A living replica shall go on elsewhere, when those before it have. */
  move(name: ProcessName): void {
    this.#wanted.push(name);
    this.#next();
  }

  /** A process is dead, whatever life it was in. */
  died(name: ProcessName): void {
    const { rank, replica } = name;
    if (!this.isAlive(name)) return;
    this.#alive[rank]![replica] = false;
    // It comes back where it was: whoever wanted it elsewhere can say so again.
    this.#wanted = this.#wanted.filter((wanted) => keyOf(wanted) !== keyOf(name));
    if (this.#performers[rank] === replica) this.#performers[rank] = this.#livingAfter(name);
    const attempt = this.#present;
    if (attempt !== null && attempt.clone.rank === rank) {
      if (attempt.clone.replica === replica && isMove(attempt) && attempt.step !== "joining") this.#giveUp(attempt);
      else if (attempt.clone.replica === replica) this.#present = null;
      else if (attempt.source === replica && attempt.step !== "joining") this.#giveUp(attempt);
    }
    if (attempt?.clone.rank !== rank || attempt.clone.replica !== replica) this.#lost.push(name);
    else this.#lost.unshift(name);
    this.#next();
  }

  /** The source of the present attempt cannot be captured, and no replica of its rank can. */
  refused(rank: number): void {
    this.#closed.add(rank);
    const isEarly = this.#present?.step === "copying" || this.#present?.step === "asked";
    if (this.#present?.clone.rank === rank && isEarly) this.#giveUp(this.#present);
    this.#next();
  }

  /** What is left is little, or does not become less. */
  copied(attempt: CloneAttempt): void {
    const present = this.#presentIs(attempt);
    if (present?.step !== "copying") return;
    present.step = "asked";
    this.#ports.ask(present);
  }

  /** The image is taken. */
  captured(attempt: CloneAttempt): void {
    const present = this.#presentIs(attempt);
    if (present?.step === "asked") present.step = "moving";
  }

  /** The image is lost, or cannot be used. */
  failed(attempt: CloneAttempt): void {
    const present = this.#presentIs(attempt);
    if (present === null || present.step === "joining") return;
    this.#giveUp(present);
    this.#next();
  }

  /** The image is where it belongs. False: nobody waits for this clone any more. */
  begin(attempt: CloneAttempt): boolean {
    const present = this.#presentIs(attempt);
    if (present?.step !== "moving") return false;
    present.step = "joining";
    this.#alive[attempt.clone.rank]![attempt.clone.replica] = true;
    return true;
  }

  /** Everybody knows the clone. */
  back(attempt: CloneAttempt): void {
    if (this.#presentIs(attempt) === null) return;
    this.#attempts.delete(keyOf(attempt.clone));
    this.#present = null;
    this.#next();
  }

  #presentIs({ clone, life }: CloneAttempt): (CloneAttempt & { step: Step }) | null {
    const present = this.#present;
    const isIt = present !== null && keyOf(present.clone) === keyOf(clone) && present.life === life;
    return isIt ? present : null;
  }

  #giveUp(attempt: CloneAttempt): void {
    this.#present = null;
    if (!isMove(attempt)) this.#lost.unshift(attempt.clone);
    this.#ports.giveUp(attempt);
  }

  /** The next living one in cyclic order. −1: there is none. */
  #livingAfter({ rank, replica }: ProcessName): number {
    const replicas = this.#alive[rank]!.length;
    for (let step = 1; step < replicas; step++) {
      const other = (replica + step) % replicas;
      if (this.isAlive({ rank, replica: other })) return other;
    }
    return -1;
  }

  #next(): void {
    while (this.#present === null) {
      const clone = this.#lost.shift();
      if (clone === undefined) {
        if (!this.#moveNext()) return;
        continue;
      }
      const { rank } = clone;
      const source = this.#performers[rank]!;
      const attempts = (this.#attempts.get(keyOf(clone)) ?? 0) + 1;
      if (source < 0 || this.#closed.has(rank) || attempts > attemptsMax || !this.#ports.hasPlace(clone)) continue;
      this.#attempts.set(keyOf(clone), attempts);
      // Of all clones of the job, so that later ones have higher numbers, whoever is cloned from whom.
      const life = ++this.#clones;
      this.#present = { clone, life, source, step: "copying" };
      this.#ports.copy(this.#present);
    }
  }

  /** False: nobody is to be moved. */
  #moveNext(): boolean {
    const clone = this.#wanted.shift();
    if (clone === undefined) return false;
    this.#present = { clone, life: ++this.#clones, source: clone.replica, step: "copying" };
    this.#ports.copy(this.#present);
    return true;
  }
}

const keyOf = ({ rank, replica }: ProcessName): string => `${rank} ${replica}`;
