/**
 * The processes that play each rank, and which of them are dead. Two processes that know of the same deaths agree on every answer, in
 * whichever order they have heard of them: that is all that makes the choice of a substitute the same everywhere (R4).
 *
 * A dead one may return, as a clone in another life (R6). Lives are numbered, and of each process the highest one counts that is known
 * to be over: late words about it change nothing.
 */
import { lives } from "../../base/saved-classes.ts";

/** Sets of replicas are bits of one number. */
export const replicasMax = 16;

export class Membership {
  readonly replicas: number;
  /** By rank: a bit for each replica that is dead, or was never there. */
  private readonly dead: Int32Array;
  /** By rank: a bit for each replica that is being made anew. It is dead until it speaks. */
  private readonly coming: Int32Array;
  /** By rank: a bit for each replica that has come back, and has seen what its world has not sent yet. */
  private readonly ahead: Int32Array;
  /** By process: the life that lives, comes or was the last; and the highest one that is over, −1: none. */
  private readonly lives: Int32Array;
  private readonly over: Int32Array;
  private readonly mayReturn: boolean;
  /** Bits: the worlds in which some rank has its own replica, or may have it again. */
  inhabited: number;

  /** `plan`: how many processes play each rank. `mayReturn`: the lost come back. */
  constructor(plan: readonly number[], mayReturn = false) {
    this.replicas = Math.max(1, ...plan);
    const all = (1 << this.replicas) - 1;
    this.dead = Int32Array.from(plan, (there) => all & ~((1 << there) - 1));
    this.coming = new Int32Array(plan.length);
    this.ahead = new Int32Array(plan.length);
    this.lives = new Int32Array(plan.length * this.replicas);
    this.over = new Int32Array(plan.length * this.replicas).fill(-1);
    this.mayReturn = mayReturn;
    this.inhabited = all;
  }

  deadOf(rank: number): number {
    return this.dead[rank]!;
  }

  livingOf(rank: number): number {
    return ~this.dead[rank]! & ((1 << this.replicas) - 1);
  }

  isAlive(rank: number, replica: number): boolean {
    return (this.dead[rank]! & (1 << replica)) === 0;
  }

  get ranks(): number {
    return this.dead.length;
  }

  comingOf(rank: number): number {
    return this.coming[rank]!;
  }

  /** Bits: replicas whose worlds hear of messages to them by notices, because they are dead or have them already (world-notices.ts). */
  absentOf(rank: number): number {
    return (this.dead[rank]! | this.ahead[rank]!) & this.inhabited;
  }

  aheadOf(rank: number): number {
    return this.ahead[rank]!;
  }

  setAhead(rank: number, replica: number, isAhead: boolean): void {
    const others = this.ahead[rank]! & ~(1 << replica);
    this.ahead[rank] = isAhead ? others | (1 << replica) : others;
  }

  lifeOf(rank: number, replica: number): number {
    return this.lives[rank * this.replicas + replica]!;
  }

  /** Is that life of a process over, or older than one that is known? */
  isOver(rank: number, replica: number, life: number): boolean {
    return life <= this.over[rank * this.replicas + replica]! || life < this.lifeOf(rank, replica);
  }

  /** That life is over; the present one unless given. False: that was known, or it was none of this job's. */
  die(rank: number, replica: number, life = this.lifeOf(rank, replica)): boolean {
    const bit = 1 << replica;
    const isThere = this.isAlive(rank, replica) || (this.coming[rank]! & bit) !== 0;
    if (this.isOver(rank, replica, life) || (!isThere && life === this.lifeOf(rank, replica))) return false;
    this.dead[rank] = this.dead[rank]! | bit;
    this.coming[rank] = this.coming[rank]! & ~bit;
    this.ahead[rank] = this.ahead[rank]! & ~bit;
    this.lives[rank * this.replicas + replica] = life;
    this.over[rank * this.replicas + replica] = life;
    if (!this.mayReturn && this.dead.every((dead) => (dead & bit) !== 0)) this.inhabited &= ~bit;
    return isThere;
  }

  /** That life of a dead process is being made. */
  expect(rank: number, replica: number, life: number): void {
    this.lives[rank * this.replicas + replica] = life;
    this.coming[rank] = this.coming[rank]! | (1 << replica);
  }

  /** It is there. */
  return(rank: number, replica: number, life: number): void {
    this.lives[rank * this.replicas + replica] = life;
    this.coming[rank] = this.coming[rank]! & ~(1 << replica);
    this.dead[rank] = this.dead[rank]! & ~(1 << replica);
  }

  /**
   * The replica of that rank that sends to the processes of world `replica`: that one, or the next living one in cyclic order. −1: none
   * lives. `except`: as if that one were dead.
   */
  substituteOf(rank: number, replica: number, except = -1): number {
    const { replicas } = this;
    for (let step = 0; step < replicas; step++) {
      const next = (replica + step) % replicas;
      if (next !== except && this.isAlive(rank, next)) return next;
    }
    return -1;
  }

  /** The worlds that this replica of that rank sends to: its own, and those of the dead whose substitute it is. */
  worldsOf(rank: number, replica: number): number {
    let worlds = 0;
    for (let world = 0; world < this.replicas; world++) {
      if (this.substituteOf(rank, world) === replica) worlds |= 1 << world;
    }
    return worlds;
  }
}

lives({ Membership });
