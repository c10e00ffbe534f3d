/** Where the lost are started again: which life of each rank is the present one, and how far those of this node have come. */
import type { ArrivedClone } from "../cloning/messages.ts";
import type { CallsPassed, Life, RankRestart } from "../messages/lives.ts";
import type { RecoverySetup } from "../messages/node-messages.ts";
import type { RankRecovery } from "../messages/rank-messages.ts";

export class NodeLives {
  #setup: RecoverySetup;
  /** How many calls each rank of this node has passed in its present life. */
  readonly #passed = new Map<number, Float64Array>();
  /** The present one of every rank, as far as the node has heard. */
  readonly #incarnations: number[];
  readonly #imageFolderOf: (restart: RankRestart) => string;
  /** Images of clones that have arrived and begin, by rank. */
  readonly #arrived = new Map<number, ArrivedClone>();

  /** `imageFolderOf`: where a rank will find the image that it goes on from. */
  constructor(setup: RecoverySetup, imageFolderOf: (restart: RankRestart) => string) {
    this.#setup = setup;
    this.#imageFolderOf = imageFolderOf;
    this.#incarnations = [...setup.incarnations];
  }

  /** Some ranks of this node are about to begin another life. */
  restart(setup: RecoverySetup): void {
    this.#setup = setup;
    for (const [rank, incarnation] of setup.incarnations.entries()) this.returned({ rank, incarnation });
  }

  /** A rank of this node is about to begin as a clone whose memory is filled. */
  arrived(rank: number, clone: ArrivedClone): void {
    this.#arrived.set(rank, clone);
  }

  /** A rank lives again, here or elsewhere. */
  returned({ rank, incarnation }: Life): void {
    this.#incarnations[rank] = Math.max(this.#incarnations[rank]!, incarnation);
  }

  incarnationOf(rank: number): number {
    return this.#incarnations[rank]!;
  }

  /** How a rank of this node begins; null: for the first time. */
  restartOf(rank: number): RankRestart | null {
    return this.#setup.restarts.find((restart) => restart.rank === rank) ?? null;
  }

  /** For the thread of a rank. */
  forRank(rank: number): RankRecovery {
    const { setOf, checkpointFolder, beganMs } = this.#setup;
    const passed = new Float64Array(new SharedArrayBuffer(8));
    this.#passed.set(rank, passed);
    const incarnations = [...this.#incarnations];
    const restart = this.restartOf(rank);
    const arrived = this.#arrived.get(rank) ?? null;
    this.#arrived.delete(rank);
    const imageFolder = restart === null || arrived !== null ? "" : this.#imageFolderOf(restart);
    return { setOf, checkpointFolder, beganMs, incarnations, passed, restart, imageFolder, arrived };
  }

  /** How far the ranks of this node have come. */
  get passed(): CallsPassed[] {
    return [...this.#passed].map(([rank, [calls]]) => ({ rank, calls: calls! }));
  }
}
