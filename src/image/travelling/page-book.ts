/**
 * What is known of the pages of a memory, by 64 bits for each (page-hash.ts). Two books of the same keys, of two memories, are equal when the
 * memories are: the source of a clone and the clone have one each. Keys are drawn for each clone.
 */
import { assert } from "../../core/base/assert.ts";
import { checksumOf } from "../checksum.ts";
import { pageBytes } from "../kernel.ts";
import { bookOf, hashBytes, type PageHash, pageHashOf } from "../page-hash.ts";
import { chunkPages, type PageRun, PageSet, pageSetBytes } from "../page-set.ts";

const wasmPageBytes = 65_536;
const booksAt = 64;

interface LookedAt {
  /** Not zero, and other than before. */
  readonly changed: PageSet;
  /** Zero, and something else before. */
  readonly zeroed: PageSet;
}

export class PageBook {
  readonly #pages: PageHash;
  readonly #book: ReturnType<typeof bookOf>;
  readonly #bytes: Uint8Array;
  /** Of each chunk: 1, some of its pages may not be zero. */
  readonly #mayHave: Uint8Array;
  readonly memoryBytes: number;

  /** All pages of the memory count as zero before they are looked at. */
  constructor(memory: WebAssembly.Memory, keys: Uint8Array) {
    this.memoryBytes = memory.buffer.byteLength;
    this.#mayHave = new Uint8Array(Math.ceil(this.memoryBytes / pageBytes / chunkPages));
    const ownPages = Math.ceil((booksAt + (this.memoryBytes / pageBytes) * hashBytes) / wasmPageBytes);
    const own = new WebAssembly.Memory({ initial: ownPages, maximum: ownPages, shared: true });
    this.#pages = pageHashOf(memory, keys);
    this.#bytes = new Uint8Array(own.buffer);
    this.#book = bookOf(this.#pages, own);
  }

  get pages(): number {
    return this.memoryBytes / pageBytes;
  }

  /** The first of those pages that is zero; `to`: none is. */
  firstZero({ from, to }: PageRun): number {
    return this.#pages.find(from, to, 1);
  }

  firstNotZero({ from, to }: PageRun): number {
    return this.#pages.find(from, to, 0);
  }

  /** The first of those pages that is not what is known of it; `to`: none is. Most pages are: whoever asks for the next one here need not look at each chunk. */
  firstChanged({ from, to }: PageRun): number {
    assert(from <= to && to <= this.pages, `pages ${from} to ${to}`);
    return this.#book.find(from, to);
  }

  /** Looks at the pages of one chunk, and notes what they are. Bit 0 of the sets is the first of them. */
  look({ from, to }: PageRun): LookedAt {
    assert(from < to && to - from <= chunkPages && to <= this.pages, `pages ${from} to ${to}`);
    this.note({ from, to });
    this.#mayHave.fill(1, chunkOf(from), chunkOf(to - 1) + 1);
    const setAt = (at: number): PageSet => new PageSet(this.#bytes.slice(at, at + pageSetBytes));
    return { changed: setAt(pageSetBytes), zeroed: setAt(2 * pageSetBytes) };
  }

  /** Notes what those pages are; they have no limit. */
  note({ from, to }: PageRun): void {
    this.#book.scan(from * pageBytes, to - from, booksAt + from * hashBytes, 0);
  }

  /** The hashes of those pages, in place. */
  hashesOf({ from, to }: PageRun): Uint8Array {
    this.#mayHave.fill(1, chunkOf(from), chunkOf(to - 1) + 1);
    return this.#bytes.subarray(booksAt + from * hashBytes, booksAt + to * hashBytes);
  }

  /** They are zero. */
  clear(run: PageRun): void {
    this.hashesOf(run).fill(0);
  }

  /** Pages outside the runs, which are in order, that are not zero as far as is known. */
  *without(runs: readonly PageRun[]): Generator<PageRun, void, void> {
    let at = 0;
    for (const { from, to } of [...runs, { from: this.pages, to: this.pages }]) {
      yield* this.#noted({ from: at, to: from });
      at = to;
    }
  }

  *#noted({ from, to }: PageRun): Generator<PageRun, void, void> {
    const words = new BigInt64Array(this.#bytes.buffer, booksAt);
    for (let page = from; page < to; page++) {
      const chunk = chunkOf(page);
      if (this.#mayHave[chunk] === 0) {
        page = (chunk + 1) * chunkPages - 1;
        continue;
      }
      if (words[page] === 0n) continue;
      const first = page;
      while (page < to && words[page] !== 0n) page++;
      yield { from: first, to: page };
    }
  }

  /** Of all that is known. */
  get digest(): bigint {
    return checksumOf(this.#bytes.subarray(booksAt, booksAt + this.pages * hashBytes));
  }
}

const chunkOf = (page: number): number => Math.floor(page / chunkPages);
