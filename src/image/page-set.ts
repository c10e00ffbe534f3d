/** A set of the pages of one chunk, as the bitmap that stands in the file: page i is bit i % 8 of byte i / 8. */
import { pageBytes } from "./kernel.ts";

/**
 * 256 KiB a chunk: bytes just summed are still in the core's cache when the system copies them, and the other way round. With 1
 * MiB reading costs 0.2 s more a GiB than without checksums, with this size 0.1 s.
 */
export const chunkPages = 64;
export const chunkBytes = chunkPages * pageBytes;
export const pageSetBytes = chunkPages / 8;

/** Pages from `from` up to, but not including, `to`. */
export interface PageRun {
  readonly from: number;
  readonly to: number;
}

/** How many bits of a byte are 1: sets are counted in code that runs too rarely to be compiled. */
const bitsOf = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll("0", "").length);

export class PageSet {
  readonly bytes: Uint8Array;

  /** A set on the given bytes, which are not copied. */
  constructor(bytes = new Uint8Array(pageSetBytes)) {
    this.bytes = bytes;
  }

  add(page: number): void {
    this.bytes[page >> 3]! |= 1 << (page & 7);
  }

  has(page: number): boolean {
    return ((this.bytes[page >> 3]! >> (page & 7)) & 1) === 1;
  }

  get isEmpty(): boolean {
    return this.size === 0;
  }

  get size(): number {
    let size = 0;
    for (let i = 0; i < pageSetBytes; i++) size += bitsOf[this.bytes[i]!]!;
    return size;
  }

  /** Runs of neighbouring pages, in order. */
  runs(): PageRun[] {
    const runs: PageRun[] = [];
    for (let page = 0; page < chunkPages; page++) {
      if (!this.has(page)) continue;
      const from = page;
      while (page < chunkPages && this.has(page)) page++;
      runs.push({ from, to: page });
    }
    return runs;
  }
}
