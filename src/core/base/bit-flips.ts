/** Silent faults: bits that flip by chance. */

/**
 * Bits that pass, each of which flips with that probability. Their number has the binomial distribution, because the distances between two flips are drawn
 * from the geometric one: work for the flips alone, however many bits there are. `unit` draws from between 0 and 1, both excluded.
 */
export class BitFlips {
  readonly #scale: number;
  readonly #unit: () => number;
  /** Bits that are left alone before the next one flips. */
  #left: number;
  /** So many have flipped. */
  count = 0;

  constructor(probability: number, unit: () => number) {
    this.#scale = Math.log1p(-Math.min(probability, 1));
    this.#unit = unit;
    this.#left = probability <= 0 ? Number.POSITIVE_INFINITY : this.#distance();
  }

  #distance(): number {
    return Math.floor(Math.log(this.#unit()) / this.#scale);
  }

  /** Will one of the next bytes have a flip? */
  isNear(bytes: number): boolean {
    return this.#left < 8 * bytes;
  }

  /** So many bytes pass, none of which is near. */
  pass(bytes: number): void {
    this.#left -= 8 * bytes;
  }

  /** These bytes pass, and change. */
  flip(bytes: Uint8Array): void {
    const bits = 8 * bytes.length;
    let bit = this.#left;
    for (; bit < bits; bit += 1 + this.#distance()) {
      const at = Math.floor(bit / 8);
      bytes[at] = bytes[at]! ^ (1 << (bit % 8));
      this.count++;
    }
    this.#left = bit - bits;
  }
}
