/**
 * What is known of the pages of a memory, by 64 bits for each (page-hash.wat), read where they lie. Two books of one seed, of two memories, are equal when the
 * memories are: the source of a clone and the clone have one each.
 *
 * A page that differs is missed with a probability of about 2^-63, as in page-stage.ts. The keys are random, and drawn for each clone: whatever a program
 * does to its pages, it cannot know them.
 */
import { assert } from "../../core/base/assert.ts";
import { checksumOf } from "../checksum.ts";
import { pageBytes } from "../kernel.ts";
import { chunkPages, type PageRun, PageSet, pageSetBytes } from "../page-set.ts";
import bookModule from "./page-book.wat";
import hashModule from "./page-hash.wat";

export const hashBytes = 8;
const keyCount = 9;
export const keysBytes = keyCount * 16;
const wasmPageBytes = 65_536;
const booksAt = 64;

interface HashExports {
  addKey(low: bigint, high: bigint): void;
  find(page: number, end: number, isZero: number): number;
  hash(at: number): bigint;
}

interface BookExports {
  find(page: number, end: number): number;
  scan(page: number, pages: number): void;
}

interface CompiledModules {
  readonly hash: WebAssembly.Module;
  readonly book: WebAssembly.Module;
}

let compiled: CompiledModules | undefined;

interface LookedAt {
  /** Not zero, and other than before. */
  readonly changed: PageSet;
  /** Zero, and something else before. */
  readonly zeroed: PageSet;
}

export class PageBook {
  readonly #pages: HashExports;
  readonly #book: BookExports;
  readonly #bytes: Uint8Array;
  /** Of each chunk: 1, some of its pages may not be zero. */
  readonly #mayHave: Uint8Array;
  readonly memoryBytes: number;

  /** All pages of the memory count as zero before they are looked at. */
  constructor(memory: WebAssembly.Memory, keys: Uint8Array) {
    assert(keys.length === keysBytes, `${keys.length} bytes of keys`);
    compiled ??= { hash: new WebAssembly.Module(hashModule), book: new WebAssembly.Module(bookModule) };
    const pages = new WebAssembly.Instance(compiled.hash, { memory: { memory } }).exports as unknown as HashExports;
    const view = new DataView(keys.buffer, keys.byteOffset, keys.length);
    for (let at = 0; at < keysBytes; at += 16) pages.addKey(view.getBigInt64(at, true), view.getBigInt64(at + 8, true));
    this.memoryBytes = memory.buffer.byteLength;
    this.#mayHave = new Uint8Array(Math.ceil(this.memoryBytes / pageBytes / chunkPages));
    const ownPages = Math.ceil((booksAt + (this.memoryBytes / pageBytes) * hashBytes) / wasmPageBytes);
    const own = new WebAssembly.Memory({ initial: ownPages, maximum: ownPages, shared: true });
    this.#pages = pages;
    this.#bytes = new Uint8Array(own.buffer);
    const imports = { memory: { memory: own }, pages: { hash: pages.hash } };
    this.#book = new WebAssembly.Instance(compiled.book, imports).exports as unknown as BookExports;
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
    this.#book.scan(from, to - from);
    this.#mayHave.fill(1, chunkOf(from), chunkOf(to - 1) + 1);
    const setAt = (at: number): PageSet => new PageSet(this.#bytes.slice(at, at + pageSetBytes));
    return { changed: setAt(0), zeroed: setAt(pageSetBytes) };
  }

  /** Notes what those pages are; they have no limit. */
  note({ from, to }: PageRun): void {
    this.#book.scan(from, to - from);
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
