/**
 * Losses that are being made good: which ranks have not begun again, which have not come as far as they were, and how long all of
 * it takes.
 */

/** A loss that was made good. Times from the loss on. */
export interface RecoveryTimes {
  readonly ranks: readonly number[];
  /** Until the last of its ranks ran again. */
  readonly runningMs: number;
  /** Until the last of them had come as far as the life before. */
  readonly caughtUpMs: number;
}

interface Loss {
  readonly atMs: number;
  readonly ranks: readonly number[];
  /** Ranks that have not come as far as they were. */
  readonly behind: Set<number>;
  runningMs: number;
}

export class Losses {
  readonly #setOf: readonly number[];
  /** By set, as long as any rank of the loss is behind. */
  readonly #losses = new Map<number, Loss>();
  /** Of sets that have fallen: members that have not begun their new life. */
  readonly #unbegun = new Map<number, Set<number>>();

  /** Set of each rank. */
  constructor(setOf: readonly number[]) {
    this.#setOf = setOf;
  }

  /**
   * These ranks, all of some sets, were lost together. A set that falls again on the way is behind since the first time, and all
   * that was lost with it then belongs to the same loss: otherwise that one would wait for a life that is over.
   */
  fell(ranks: readonly number[], nowMs: number): void {
    const sets = new Set(ranks.map((rank) => this.#setOf[rank]!));
    const earlier = new Set([...sets].flatMap((set) => this.#losses.get(set) ?? []));
    const loss: Loss = {
      atMs: Math.min(nowMs, ...[...earlier].map(({ atMs }) => atMs)),
      ranks: [...new Set([...earlier].flatMap((old) => old.ranks).concat(ranks))].sort((a, b) => a - b),
      behind: new Set([...earlier].flatMap((old) => [...old.behind]).concat(ranks)),
      runningMs: 0,
    };
    for (const rank of loss.ranks) this.#losses.set(this.#setOf[rank]!, loss);
    for (const set of sets) this.#unbegun.set(set, new Set(ranks.filter((rank) => this.#setOf[rank] === set)));
  }

  /** Has everything that was lost come as far as it was? */
  get areMadeGood(): boolean {
    return this.#losses.size === 0 && this.#unbegun.size === 0;
  }

  /** Has every member of the set begun its present life? */
  hasBegun(set: number): boolean {
    return !this.#unbegun.has(set);
  }

  /** A rank has begun a life, perhaps not its first. True: it was the last of its set to begin another. */
  began(rank: number, nowMs: number): boolean {
    const set = this.#setOf[rank]!;
    const loss = this.#losses.get(set);
    if (loss !== undefined) loss.runningMs = nowMs - loss.atMs;
    const unbegun = this.#unbegun.get(set);
    unbegun?.delete(rank);
    return unbegun?.size === 0 && this.#unbegun.delete(set);
  }

  /** A rank has come as far as it was; what it took, if all ranks that were lost with it have. */
  caughtUp(rank: number, nowMs: number): RecoveryTimes | undefined {
    const loss = this.#losses.get(this.#setOf[rank]!);
    if (loss === undefined) return undefined;
    loss.behind.delete(rank);
    if (loss.behind.size > 0) return undefined;
    const { ranks, runningMs, atMs } = loss;
    for (const member of ranks) this.#losses.delete(this.#setOf[member]!);
    return { ranks, runningMs, caughtUpMs: nowMs - atMs };
  }
}
