/**
 * The processes that play each rank, and which of them are dead. Two processes that know of the same deaths agree on every answer, in
 * whichever order they have heard of them: that is all that makes the choice of a substitute the same everywhere (R4).
 */
import { lives } from "../../base/saved-classes.ts";

/** Sets of replicas are bits of one number. */
export const replicasMax = 16;

export class Membership {
  readonly replicas: number;
  /** By rank: a bit for each replica that is dead, or was never there. */
  private readonly dead: Int32Array;
  /** Bits: the worlds in which some rank has its own replica. */
  inhabited: number;

  /** `plan`: how many processes play each rank. */
  constructor(plan: readonly number[]) {
    this.replicas = Math.max(1, ...plan);
    const all = (1 << this.replicas) - 1;
    this.dead = Int32Array.from(plan, (there) => all & ~((1 << there) - 1));
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

  /** False: that was known. */
  die(rank: number, replica: number): boolean {
    if (!this.isAlive(rank, replica)) return false;
    this.dead[rank] = this.dead[rank]! | (1 << replica);
    if (this.dead.every((dead) => (dead & (1 << replica)) !== 0)) this.inhabited &= ~(1 << replica);
    return true;
  }

  /** The replica of that rank that sends to the processes of world `replica`: that one, or the next living one in cyclic order. −1: none lives. */
  substituteOf(rank: number, replica: number): number {
    const { replicas } = this;
    for (let step = 0; step < replicas; step++) {
      const next = (replica + step) % replicas;
      if (this.isAlive(rank, next)) return next;
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
