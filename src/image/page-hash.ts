/**
 * 64 bits for a page of a memory, read where it lies (page-hash.wat), at 9 GB/s on one core of an Arm Neoverse-N1, where XXH64 has 3; and books of such
 * hashes, which tell the pages that have changed (page-book.wat).
 *
 * Two different pages have the same 64 bits with a probability of about 2^-63, whatever they are: the keys are random, and a program cannot know them. 64
 * bits take 2 MiB for 1 GiB of memory, where a second copy of the memory would take as much again. For a capture of 1 GiB of which everything changes in each of 8
 * rounds that is 2^-42, one in 10^12 to 10^13. Disks promise no more than one unreadable sector in 10^15 bits, one in 10^5 images of that size; another 64 bits would
 * make no image safer.
 */
import { assert } from "../core/base/assert.ts";
import bookModule from "./page-book.wat";
import hashModule from "./page-hash.wat";

export const hashBytes = 8;
const keyCount = 9;
export const keysBytes = keyCount * 16;

/** Over the memory of the pages, which is only read. */
export interface PageHash {
  /** The first of the pages from `page` up to `end` that is zero (1), or is not (0); `end`: none of them. */
  find(page: number, end: number, isZero: number): number;
  /** Of the page at that address; 0: it is zero, and no other page has that. */
  hash(at: number): bigint;
}

/** Over the memory of the books. */
interface BookExports {
  find(page: number, end: number): number;
  scan(at: number, pages: number, place: number, sets: number): void;
}

interface CompiledModules {
  readonly hash: WebAssembly.Module;
  readonly book: WebAssembly.Module;
}

let compiled: CompiledModules | undefined;

function modules(): CompiledModules {
  compiled ??= { hash: new WebAssembly.Module(hashModule), book: new WebAssembly.Module(bookModule) };
  return compiled;
}

/** `keys`: `keysBytes` random bytes. */
export function pageHashOf(memory: WebAssembly.Memory, keys: Uint8Array): PageHash {
  assert(keys.length === keysBytes, `${keys.length} bytes of keys`);
  const pages = new WebAssembly.Instance(modules().hash, { memory: { memory } }).exports as unknown as PageHash & {
    addKey(low: bigint, high: bigint): void;
  };
  const view = new DataView(keys.buffer, keys.byteOffset, keys.length);
  for (let at = 0; at < keysBytes; at += 16) pages.addKey(view.getBigInt64(at, true), view.getBigInt64(at + 8, true));
  return pages;
}

/** Books of those pages in a memory of ours. */
export function bookOf(pages: PageHash, own: WebAssembly.Memory): BookExports {
  const imports = { memory: { memory: own }, pages: { hash: pages.hash } };
  return new WebAssembly.Instance(modules().book, imports).exports as unknown as BookExports;
}
