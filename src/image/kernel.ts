/**
 * The WebAssembly kernel over one shared memory: zero pages at about 10 GB/s, hashes at about 6 GB/s on one core.
 *
 * Over the program's own memory it only reads, and nothing has to be copied before it is examined; `scan` and `compact` are for a
 * memory of ours (page-stage.ts). A hash under way is state of the instance: one thread, one `MemoryKernel`.
 */
import kernelModule from "./kernel.wat";

export const pageBytes = 4096;

interface KernelExports {
  isZero(at: number): number;
  scan(pages: number, book: number, sets: number): void;
  compact(set: number): number;
  begin(seed: bigint): void;
  update(at: number, bytes: number): void;
  finish(at: number, bytes: number): bigint;
  seedPages(seed: bigint): void;
}

let compiled: WebAssembly.Module | undefined;

export class MemoryKernel {
  readonly #exports: KernelExports;

  constructor(memory: WebAssembly.Memory) {
    compiled ??= new WebAssembly.Module(kernelModule);
    this.#exports = new WebAssembly.Instance(compiled, { memory: { memory } }).exports as unknown as KernelExports;
  }

  isZero(page: number): boolean {
    return this.#exports.isZero(page * pageBytes) === 1;
  }

  /** Sets the seed for the hashes of pages. */
  seedPages(seed: bigint): void {
    this.#exports.seedPages(seed);
  }

  /** Which of the first pages are not zero, have changed, have become zero: three sets at `sets`; their hashes are at `book`. */
  scan(pages: number, { book, sets }: { book: number; sets: number }): void {
    this.#exports.scan(pages, book, sets);
  }

  /** Moves the pages of the set at that address to the beginning of the memory; how many bytes they are. */
  compact(set: number): number {
    return this.#exports.compact(set);
  }

  begin(seed: bigint): void {
    this.#exports.begin(seed);
  }

  /** `bytes` is a multiple of 32. */
  update(at: number, bytes: number): void {
    this.#exports.update(at, bytes);
  }

  /** The last bytes, fewer than 32. */
  finish(at: number, bytes: number): bigint {
    return BigInt.asUintN(64, this.#exports.finish(at, bytes));
  }
}
