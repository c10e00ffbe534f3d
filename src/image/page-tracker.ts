/**
 * Which pages the file has, and whether they have changed since they were written, for one capture.
 *
 * A stored page is remembered by 64 bits (XXH64, a seed of its own for each capture), 4 MiB for 2 GiB of memory, instead of by
 * a second copy of the memory. A changed page is missed with a probability of 2^-64: for a capture of 1 GiB of which everything
 * changes in each of 8 rounds 2^-43, one in 10^13. Disks promise no more than one unreadable sector in 10^15 bits, one in 10^5
 * images of that size; another 64 bits would make no image safer. The seed is random so that two contents that collide in one
 * capture do not collide in the next as well; only a program that builds collisions against XXH64 and knows the seed could harm
 * itself. Faster hashes are not enough: for hashes that add up products (XXH3, NH) no more than 2^-32 is proven when the
 * elements of a page change places, as they do in sorting.
 */
import { type MemoryKernel, pageBytes } from "./kernel.ts";

export class PageTracker {
  readonly #kernel: MemoryKernel;
  readonly #low: Int32Array;
  readonly #high: Int32Array;
  /** 1: the newest content in the file is not zero. A page that is missing in the file is zero after a restore. */
  readonly #isStored: Uint8Array;

  /** `kernel` reads the program's memory. */
  constructor(kernel: MemoryKernel, memoryBytes: number) {
    const pages = Math.ceil(memoryBytes / pageBytes);
    this.#kernel = kernel;
    this.#low = new Int32Array(pages);
    this.#high = new Int32Array(pages);
    this.#isStored = new Uint8Array(pages);
  }

  /** How the page differs from its copy in the file. */
  stateOf(page: number): "same" | "changed" | "zeroed" {
    const isStored = this.#isStored[page] === 1;
    if (this.#kernel.isZero(page)) return isStored ? "zeroed" : "same";
    if (!isStored || this.#kernel.hashLow(page) !== this.#low[page]) return "changed";
    return this.#kernel.hashHigh() === this.#high[page] ? "same" : "changed";
  }

  isStored(page: number): boolean {
    return this.#isStored[page] === 1;
  }

  /** Notes that the file has the page with the content of this hash. */
  stored(page: number, low: number, high: number): void {
    this.#isStored[page] = 1;
    this.#low[page] = low;
    this.#high[page] = high;
  }

  zeroed(page: number): void {
    this.#isStored[page] = 0;
  }
}
