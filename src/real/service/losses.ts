/** Losses that are being made good: which ranks have not come as far as they were, and how long it takes them. */
import type { RecoveryTimes } from "../logging/logging-report.ts";

interface Loss {
  readonly atMs: number;
  readonly ranks: readonly number[];
  /** Those that have not come as far as they were. */
  readonly behind: Set<number>;
  runningMs: number;
}

export class Losses {
  readonly #setOf: readonly number[];
  /** By set, as long as any of its ranks is behind. */
  readonly #losses = new Map<number, Loss>();
  /** Of sets that have been restarted: members that have not begun their new life. */
  readonly #unbegun = new Map<number, Set<number>>();

  /** Correlated set of each rank. */
  constructor(setOf: readonly number[]) {
    this.#setOf = setOf;
  }

  /** These, all of some sets, were lost together. Who falls again on the way is behind since the first time. */
  fell(ranks: readonly number[]): void {
    const sets = new Set(ranks.map((rank) => this.#setOf[rank]!));
    const earlier = [...sets].map((set) => this.#losses.get(set)?.atMs ?? Number.POSITIVE_INFINITY);
    const atMs = Math.min(performance.now(), ...earlier);
    const loss = { atMs, ranks, behind: new Set(ranks), runningMs: 0 };
    for (const set of sets) {
      this.#losses.set(set, loss);
      this.#unbegun.set(set, new Set(ranks.filter((rank) => this.#setOf[rank] === set)));
    }
  }

  /** Has every member of the set begun its present life? */
  hasBegun(set: number): boolean {
    return !this.#unbegun.has(set);
  }

  /** A rank has begun a life, perhaps not its first. True: it was the last of its set to begin another. */
  began(rank: number): boolean {
    const set = this.#setOf[rank]!;
    const loss = this.#losses.get(set);
    if (loss !== undefined) loss.runningMs = performance.now() - loss.atMs;
    const unbegun = this.#unbegun.get(set);
    unbegun?.delete(rank);
    return unbegun?.size === 0 && this.#unbegun.delete(set);
  }

  /** A rank has come as far as it was; what it took, if all who were lost with it have. */
  caughtUp(rank: number): RecoveryTimes | undefined {
    const loss = this.#losses.get(this.#setOf[rank]!);
    if (loss === undefined) return undefined;
    loss.behind.delete(rank);
    if (loss.behind.size > 0) return undefined;
    for (const member of loss.ranks) this.#losses.delete(this.#setOf[member]!);
    const { ranks, runningMs, atMs } = loss;
    return { ranks, runningMs, caughtUpMs: performance.now() - atMs };
  }
}
