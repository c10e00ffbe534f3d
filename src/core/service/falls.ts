/**
 * When a node that has fallen is not started again (rule 10). Progress counts, not restarts: whoever kills nodes from outside, as
 * often as he likes, does not end a job that gets on. A program that ends its own process at the same place, by its memory or by
 * a crash, looks the same from outside; but it never gets any further.
 *
 * Progress is that some rank of the job has passed a call that none of its lives had passed, or that a set has a checkpoint from
 * further on than the one before. It clears what is held against every node. Without it, a fall counts
 *
 *   at the same call   when the node's ranks had come as far as they ever were, and nobody else was still on the way there: then
 *                      nothing kept them from getting further but the place where they are
 *   in vain            always. Replay may be slower than the kills, so there is much more patience.
 */

/** Falls of a node for which it is started again, without progress. */
const sameCallMax = 3;
const inVainMax = 10;

/** Why a node is not started again, and how often it had fallen. */
export interface GivenUp {
  readonly rule: "same-call" | "no-progress";
  readonly falls: number;
}

interface NodeFalls {
  atSameCall: number;
  inVain: number;
}

export class Falls {
  readonly #nodes: NodeFalls[];
  /** Ranks that have not come as far as their lives before. */
  readonly #behind = new Set<number>();
  /** Calls that the rank's furthest life has passed. */
  readonly #furthest: number[];
  /** Calls that the ranks of each set had passed at its newest checkpoint. */
  readonly #saved = new Map<number, number>();

  constructor({ nodes, ranks }: { readonly nodes: number; readonly ranks: number }) {
    this.#nodes = Array.from({ length: nodes }, () => ({ atSameCall: 0, inVain: 0 }));
    this.#furthest = new Array<number>(ranks).fill(0);
  }

  /** The present life of a rank has passed so many calls; the same ones in every life. */
  passed(rank: number, calls: number): void {
    const furthest = this.#furthest[rank]!;
    if (calls >= furthest) this.#behind.delete(rank);
    if (calls <= furthest) return;
    this.#furthest[rank] = calls;
    this.#progressed();
  }

  /** A checkpoint counts from now on in which the ranks of the set have passed so many calls together. */
  committed(set: number, calls: number): void {
    if (calls <= (this.#saved.get(set) ?? 0)) return;
    this.#saved.set(set, calls);
    this.#progressed();
  }

  /** A rank has come as far as its lives before. */
  caughtUp(rank: number): void {
    this.#behind.delete(rank);
  }

  /** What the node did is not why it falls: somebody wants it to. */
  excused(node: number): void {
    Object.assign(this.#nodes[node]!, { atSameCall: 0, inVain: 0 });
  }

  /** Those ranks of a node are gone. Null: they shall begin their next life. */
  fell(node: number, ranks: readonly number[]): GivenUp | null {
    const it = this.#nodes[node]!;
    if (this.#behind.size === 0) it.atSameCall++;
    it.inVain++;
    for (const rank of ranks) this.#behind.add(rank);
    if (it.atSameCall > sameCallMax) return { rule: "same-call", falls: it.atSameCall };
    return it.inVain > inVainMax ? { rule: "no-progress", falls: it.inVain } : null;
  }

  #progressed(): void {
    for (const it of this.#nodes) Object.assign(it, { atSameCall: 0, inVain: 0 });
  }
}
