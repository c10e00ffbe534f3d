/**
 * The processes of a job whose ranks are played by several. Their numbers go replica after replica, each in the order of ranks; a rank
 * that has fewer processes than others is left out of the later ones.
 */
import type { ProcessName } from "./identity.ts";

/** By process. `replicas`: how many processes play each rank. */
export function playersOf(replicas: readonly number[]): ProcessName[] {
  const players: ProcessName[] = [];
  for (let replica = 0; replica < replicas.reduce((most, there) => Math.max(most, there), 0); replica++) {
    for (const [rank, there] of replicas.entries()) if (replica < there) players.push({ rank, replica });
  }
  return players;
}

/** A process as its program knows it, in a job of so many ranks. */
export interface Role extends ProcessName {
  readonly ranks: number;
}

interface ProcessOfJob {
  /** The number of the process. */
  readonly rank: number;
  /** How many processes the job starts with. */
  readonly ranks: number;
  /** How many of them play each rank; null: one. */
  readonly replicas: readonly number[] | null;
}

export function roleOf({ rank: process, ranks, replicas }: ProcessOfJob): Role {
  if (replicas === null) return { rank: process, replica: 0, ranks };
  return { ...playersOf(replicas)[process]!, ranks: replicas.length };
}
