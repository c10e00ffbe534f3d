/**
 * The place where the pages of a chunk are looked at before they go into an image, and the books of pages that images have.
 *
 * Pages are copied to the stage, and hashed, summed and written from there: the bytes written are then the bytes hashed, even if the
 * program changes the page meanwhile. A copy of 256 KiB stays in the core's cache for all that follows.
 *
 * A book remembers a page of an image by 64 bits (XXH64, a seed of its own for each life of a rank), 2 MiB for 1 GiB of memory, instead of by
 * a second copy of the memory. A changed page is missed with a probability of 2^-64: for a capture of 1 GiB of which everything
 * changes in each of 8 rounds 2^-43, one in 10^13. Disks promise no more than one unreadable sector in 10^15 bits, one in 10^5
 * images of that size; another 64 bits would make no image safer. The seed is random so that two contents that collide in one
 * job do not collide in the next as well; only a program that builds collisions against XXH64 and knows the seed could harm
 * itself. Faster hashes are not enough: for hashes that add up products (XXH3, NH) no more than 2^-32 is proven when the
 * elements of a page change places, as they do in sorting.
 */
import { assert } from "../core/base/assert.ts";
import { MemoryKernel, pageBytes } from "./kernel.ts";
import { chunkBytes, chunkPages, type PageRun, PageSet, pageSetBytes } from "./page-set.ts";

const wasmPageBytes = 65_536;
const setsAt = chunkBytes;
const booksAt = setsAt + wasmPageBytes;
const hashBytes = 8;

/** The pages of a chunk that has been looked at. */
export interface ScannedChunk {
  /** Not zero. */
  readonly present: PageSet;
  /** Not zero, and other than the book's. */
  readonly changed: PageSet;
  /** Zero, and the book had something else. */
  readonly zeroed: PageSet;
}

interface StageOptions {
  readonly memory: WebAssembly.Memory;
  /** 64 random bits. */
  readonly seed: bigint;
  readonly books: number;
}

export class PageStage {
  readonly #program: Uint8Array;
  readonly #bytes: Uint8Array;
  readonly #kernel: MemoryKernel;
  readonly #bookBytes: number;
  /** Of each book and chunk: 1, the book may have pages of it. */
  readonly #mayHave: readonly Uint8Array[];

  constructor({ memory, seed, books }: StageOptions) {
    const chunks = Math.ceil(memory.buffer.byteLength / chunkBytes);
    this.#bookBytes = chunks * chunkPages * hashBytes;
    const pages = Math.ceil((booksAt + books * this.#bookBytes) / wasmPageBytes);
    const own = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    this.#program = new Uint8Array(memory.buffer);
    this.#bytes = new Uint8Array(own.buffer);
    this.#kernel = new MemoryKernel(own);
    this.#kernel.seedPages(seed);
    this.#mayHave = Array.from({ length: books }, () => new Uint8Array(chunks));
  }

  get memoryBytes(): number {
    return this.#program.length;
  }

  /** Chunks with any of these pages, or with pages that the book has: in order. Most of a memory is never used. */
  chunksOf(book: number, runs: readonly PageRun[]): Iterable<number> {
    const chunks = new Set<number>();
    for (const { from, to } of runs) {
      for (let chunk = Math.floor(from / chunkPages); chunk * chunkPages < to; chunk++) chunks.add(chunk);
    }
    const mayHave = this.#mayHave[book]!;
    for (let chunk = mayHave.indexOf(1); chunk >= 0; chunk = mayHave.indexOf(1, chunk + 1)) chunks.add(chunk);
    return [...chunks].sort((a, b) => a - b);
  }

  /** Looks at the wanted pages of the chunk at that address; the others count as zero. */
  scan(book: number, address: number, wanted: readonly PageRun[]): ScannedChunk {
    const mayHave = this.#mayHave[book];
    assert(mayHave !== undefined && address % chunkBytes === 0, `book ${book}, address ${address}`);
    const chunk = address / chunkBytes;
    this.#fill(address, wanted);
    const places = { book: booksAt + book * this.#bookBytes + chunk * chunkPages * hashBytes, sets: setsAt };
    this.#kernel.scan(chunkPages, places);
    const setAt = (index: number): PageSet =>
      new PageSet(this.#bytes.slice(setsAt + index * pageSetBytes, setsAt + (index + 1) * pageSetBytes));
    const scanned = { present: setAt(0), changed: setAt(1), zeroed: setAt(2) };
    mayHave[chunk] = scanned.present.isEmpty ? 0 : 1;
    return scanned;
  }

  /** The bytes of those pages of the chunk that was looked at last, one behind the other. Valid until the next chunk. */
  take(pages: PageSet): Uint8Array {
    this.#bytes.set(pages.bytes, setsAt);
    return this.#bytes.subarray(0, this.#kernel.compact(setsAt));
  }

  /** Of bytes that `take` gave. */
  checksum({ byteOffset, length }: Uint8Array): bigint {
    this.#kernel.begin(0n);
    this.#kernel.update(byteOffset, length);
    return this.#kernel.finish(0, 0);
  }

  #fill(address: number, wanted: readonly PageRun[]): void {
    const first = address / pageBytes;
    let filled = 0;
    for (const { from, to } of wanted) {
      const place = (from - first) * pageBytes;
      this.#bytes.fill(0, filled, place);
      this.#bytes.set(this.#program.subarray(from * pageBytes, to * pageBytes), place);
      filled = (to - first) * pageBytes;
    }
    this.#bytes.fill(0, filled, chunkBytes);
  }
}
