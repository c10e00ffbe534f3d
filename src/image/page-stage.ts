/**
 * The place where the pages of a chunk are looked at before they go into an image, and the books of pages that images have.
 *
 * A program that stands still has its pages hashed where they lie, and only those that an image lacks are copied to the stage, to be summed and written from there:
 * where little changes that is a quarter of the work of copying all of them. Of one that runs all pages are copied first: the bytes
 * written are then the bytes hashed, even if the program changes the page meanwhile. (A page that was hashed, changed, copied, and changed back would otherwise count
 * as one that the image has.) A copy of 256 KiB stays in the core's cache for all that follows.
 *
 * A book remembers a page of an image by 64 bits (page-hash.ts), with keys of its own for each life of a rank.
 */
import { assert } from "../core/base/assert.ts";
import { MemoryKernel, pageBytes } from "./kernel.ts";
import { bookOf, hashBytes, pageHashOf } from "./page-hash.ts";
import { chunkBytes, chunkPages, type PageRun, PageSet, pageSetBytes } from "./page-set.ts";

const wasmPageBytes = 65_536;
const setsAt = chunkBytes;
const booksAt = setsAt + wasmPageBytes;

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
  /** `keysBytes` random bytes. */
  readonly keys: Uint8Array;
  readonly books: number;
  /** The memory may change while it is looked at. */
  readonly isLive: boolean;
}

export class PageStage {
  readonly #program: Uint8Array;
  readonly #bytes: Uint8Array;
  readonly #kernel: MemoryKernel;
  /** Books of pages on the stage, and of pages where they lie; null: those may change meanwhile. */
  readonly #staged: ReturnType<typeof bookOf>;
  readonly #inPlace: ReturnType<typeof bookOf> | null;
  readonly #bookBytes: number;
  /** Of each book and chunk: 1, the book may have pages of it. */
  readonly #mayHave: readonly Uint8Array[];
  /** Of the chunk that was looked at last, where it lies; -1: it is on the stage. */
  #address = -1;

  constructor({ memory, keys, books, isLive }: StageOptions) {
    const chunks = Math.ceil(memory.buffer.byteLength / chunkBytes);
    this.#bookBytes = chunks * chunkPages * hashBytes;
    const pages = Math.ceil((booksAt + books * this.#bookBytes) / wasmPageBytes);
    const own = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    this.#program = new Uint8Array(memory.buffer);
    this.#bytes = new Uint8Array(own.buffer);
    this.#kernel = new MemoryKernel(own);
    this.#staged = bookOf(pageHashOf(own, keys), own);
    this.#inPlace = isLive ? null : bookOf(pageHashOf(memory, keys), own);
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
    const place = booksAt + book * this.#bookBytes + chunk * chunkPages * hashBytes;
    if (this.#inPlace !== null && isWhole(chunk, wanted)) {
      this.#address = address;
      this.#inPlace.scan(address, chunkPages, place, setsAt);
    } else {
      this.#address = -1;
      this.#fill(address, wanted);
      this.#staged.scan(0, chunkPages, place, setsAt);
    }
    const setAt = (index: number): PageSet =>
      new PageSet(this.#bytes.slice(setsAt + index * pageSetBytes, setsAt + (index + 1) * pageSetBytes));
    const scanned = { present: setAt(0), changed: setAt(1), zeroed: setAt(2) };
    mayHave[chunk] = scanned.present.isEmpty ? 0 : 1;
    return scanned;
  }

  /** The bytes of those pages of the chunk that was looked at last, one behind the other. Valid until the next chunk; each chunk once. */
  take(pages: PageSet): Uint8Array {
    if (this.#address < 0) {
      this.#bytes.set(pages.bytes, setsAt);
      return this.#bytes.subarray(0, this.#kernel.compact(setsAt));
    }
    let taken = 0;
    for (const { from, to } of pages.runs()) {
      const [first, end] = [this.#address + from * pageBytes, this.#address + to * pageBytes];
      this.#bytes.set(this.#program.subarray(first, end), taken);
      taken += end - first;
    }
    return this.#bytes.subarray(0, taken);
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

/** Are all pages of that chunk wanted? */
function isWhole(chunk: number, wanted: readonly PageRun[]): boolean {
  const [run] = wanted;
  return wanted.length === 1 && run!.from === chunk * chunkPages && run!.to === run!.from + chunkPages;
}
