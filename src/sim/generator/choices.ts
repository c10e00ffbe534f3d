/** The small random decisions that several families share. */
import { SendMode } from "../../core/request/records.ts";
import type { Random } from "../random.ts";

/**
 * Tags from here on are used once each; below are the tags that programs use again and again, and the numbers of open messages.
 */
const firstOwnTag = 1 << 20;

export class RandomChoices {
  readonly #random: Random;
  readonly #eagerBytesMax: number;
  #nextOwnTag = firstOwnTag;

  constructor(random: Random, eagerBytesMax: number) {
    this.#random = random;
    this.#eagerBytesMax = eagerBytesMax;
  }

  /** A tag that nothing else uses. */
  ownTag(): number {
    return this.#nextOwnTag++;
  }

  /** Sizes around the eager limit are the interesting ones. */
  bytes(): number {
    const random = this.#random;
    const eager = this.#eagerBytesMax;
    const sizes = [0, 1, 4, random.below(64), eager, eager + 1, random.below(2 * eager + 100)];
    return random.chance(0.05) ? random.between(20_000, 90_000) : random.pick(sizes);
  }

  /** The longest message. */
  get bytesMax(): number {
    return Math.max(90_000, 2 * this.#eagerBytesMax + 100);
  }

  lent(): boolean {
    return this.#random.chance(0.3);
  }

  /** Without ready sends, which need a receive that is known to be posted. */
  mode(): SendMode {
    return this.#random.pick([SendMode.STANDARD, SendMode.STANDARD, SendMode.SYNCHRONOUS, SendMode.BUFFERED]);
  }

  /** How long a rank waits before it cancels. */
  whileNs(): number {
    return this.#random.pick([0, 200, 2_000, 20_000, 200_000]);
  }
}
