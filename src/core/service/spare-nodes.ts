/**
 * Which process takes the place of a node that is lost, where its ranks come back as clones: a spare, as long as there are any, in the order of
 * their numbers; then a process that is started anew, until so many in a row are gone before what was there is back; then none, and it stays lost.
 *
 * A spare takes the whole place of a node, and nothing besides: replicas of a rank that were on different nodes stay so.
 */
import { assert } from "../base/assert.ts";

/** `spare`: its number, from 1; 0: a process that is to be started. */
interface Successor {
  readonly spare: number;
}

export class SpareNodes {
  /** In reserve, in order. */
  readonly #idle: number[];
  readonly #startsMax: number;
  /** By node: how often a process was started for it since everything there was back. */
  readonly #starts = new Map<number, number>();

  /** `startsMax`: of each node in a row, beside spares. */
  constructor(spares: number, startsMax: number) {
    this.#idle = Array.from({ length: spares }, (_, i) => i + 1);
    this.#startsMax = startsMax;
  }

  /** Those in reserve, in order. */
  get left(): readonly number[] {
    return this.#idle;
  }

  /** That spare has a place. */
  take(spare: number): void {
    assert(this.lost(spare), `spare ${spare} is in reserve`);
  }

  /** A spare is gone. False: it was in reserve no more. */
  lost(spare: number): boolean {
    const at = this.#idle.indexOf(spare);
    if (at >= 0) this.#idle.splice(at, 1);
    return at >= 0;
  }

  /** What was at that place is back. */
  regained(node: number): void {
    this.#starts.delete(node);
  }

  /** For a node that is lost. Null: nobody takes its place. */
  successorOf(node: number): Successor | null {
    const spare = this.#idle.shift();
    if (spare !== undefined) return { spare };
    const starts = this.#starts.get(node) ?? 0;
    if (starts >= this.#startsMax) return null;
    this.#starts.set(node, starts + 1);
    return { spare: 0 };
  }
}
