/**
 * The WebAssembly kernel over one shared memory: checksums at 3 to 6 GB/s on one core.
 *
 * Over the program's own memory it only reads, and nothing has to be copied before it is examined; `compact` is for a
 * memory of ours (page-stage.ts). A hash under way is state of the instance: one thread, one `MemoryKernel`.
 */
import kernelModule from "./kernel.wat";

export const pageBytes = 4096;

interface KernelExports {
  compact(set: number): number;
  begin(seed: bigint): void;
  update(at: number, bytes: number): void;
  finish(at: number, bytes: number): bigint;
}

let compiled: WebAssembly.Module | undefined;

export class MemoryKernel {
  readonly #exports: KernelExports;

  constructor(memory: WebAssembly.Memory) {
    compiled ??= new WebAssembly.Module(kernelModule);
    this.#exports = new WebAssembly.Instance(compiled, { memory: { memory } }).exports as unknown as KernelExports;
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
