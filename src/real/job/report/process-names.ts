/**
 * What people call the processes of a job. Its own ranks have their numbers; those of the k-th world that was spawned are
 * k:0, k:1 and so on. Where several processes play a rank they are replicas of it.
 */
import type { ProcessName } from "../../../core/base/identity.ts";

export class ProcessNames {
  /** By process; null: each plays the rank of its number. */
  readonly #players: readonly ProcessName[] | null;
  readonly #spawned = new Map<number, string>();
  #worlds = 0;

  constructor(players: readonly ProcessName[] | null = null) {
    this.#players = players;
  }

  /** The rank that a process plays. */
  rankOf(process: number): number {
    return this.#players?.[process]?.rank ?? process;
  }

  /** Processes were spawned together, in the order of their ranks. */
  addWorld(processes: readonly number[]): void {
    this.#worlds++;
    for (const [rank, process] of processes.entries()) this.#spawned.set(process, `${this.#worlds}:${rank}`);
  }

  get worlds(): number {
    return this.#worlds;
  }

  /** "3", "1:0". */
  shortNameOf(process: number): string {
    return this.#spawned.get(process) ?? `${process}`;
  }

  /** "rank 3", "spawned rank 1:0". */
  nameOf(process: number): string {
    if (this.#players !== null) return this.#replicasOf([process]);
    return `${this.#spawned.has(process) ? "spawned " : ""}rank ${this.shortNameOf(process)}`;
  }

  /** "rank 1", "ranks 1, 3 and 7", "ranks 0, 1, 2 and 61 others". */
  listed(processes: readonly number[]): string {
    if (this.#players !== null) return this.#replicasOf(processes);
    return ranksText(processes.map((process) => this.shortNameOf(process)));
  }

  /** "ranks 0 to 3", and by name those that were spawned. Ascending. */
  listOf(processes: readonly number[]): string {
    if (this.#players !== null) return this.#replicasOf(processes);
    const own = processes.filter((process) => !this.#spawned.has(process));
    const parts: string[] = [];
    if (own.length === 1) parts.push(`rank ${own[0]}`);
    else if (own.length > 1) parts.push(`ranks ${own[0]} to ${own.at(-1)}`);
    for (const process of processes) if (this.#spawned.has(process)) parts.push(this.nameOf(process));
    return parts.join(", ");
  }

  /** "replica 1 of ranks 0 and 3, replica 0 of rank 4". */
  #replicasOf(processes: readonly number[]): string {
    const ranksOf = new Map<number, number[]>();
    for (const process of processes) {
      const { rank, replica } = this.#players?.[process] ?? { rank: process, replica: 0 };
      ranksOf.set(replica, [...(ranksOf.get(replica) ?? []), rank]);
    }
    return [...ranksOf].map(([replica, ranks]) => `replica ${replica} of ${ranksText(ranks)}`).join(", ");
  }
}

function ranksText(names: readonly (string | number)[]): string {
  if (names.length === 1) return `rank ${names[0]}`;
  if (names.length > 8) return `ranks ${names.slice(0, 3).join(", ")} and ${names.length - 3} others`;
  return `ranks ${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
