/**
 * The memory of a clone, in a process in reserve, before anybody is lost. The operating system finds and clears each page of a memory when it is first written, a quarter of all the time that a
 * clone takes: so the pages that a rank uses are written beforehand, little by little. Where the machine has little memory left they are not.
 */
import { freemem } from "node:os";
import { pageBytes } from "../../image/kernel.ts";
import { tryToAllocate } from "../machine/memory-shortage.ts";

const mib = 2 ** 20;
/** So much at once, and so long until the next: whoever runs on the same machine notices little of it. */
const sliceBytes = 8 << 20;
const restMs = 10;
/** Of the memory that is free: no more than that part. */
const share = 1 / 4;

export interface MemoryWish {
  /** Of the memory of a rank. */
  readonly memoryMb: number;
  /** How much of it ranks use, from its beginning on. */
  readonly usedMb: number;
}

export class ReadyMemory {
  readonly #freeBytes: () => number;
  /** Null: none is wanted, or it is in use. */
  #bytes: Uint8Array | null = null;
  #memory: WebAssembly.Memory | undefined;
  #writtenBytes = 0;
  #wantedBytes = 0;
  #timer: NodeJS.Timeout | null = null;

  /** `freeBytes`: of the machine. */
  constructor(freeBytes: () => number = freemem) {
    this.#freeBytes = freeBytes;
  }

  get writtenBytes(): number {
    return this.#writtenBytes;
  }

  prepare({ memoryMb, usedMb }: MemoryWish): void {
    if (this.#memory === undefined) {
      const pages = memoryMb * 16;
      this.#memory = tryToAllocate(() => new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true }));
      if (this.#memory === undefined) return;
      this.#bytes = new Uint8Array(this.#memory.buffer);
    }
    this.#wantedBytes = Math.min(usedMb * mib, this.#bytes!.length);
    this.#timer ??= this.#soon();
  }

  /** All zero; undefined: there is none of that size. It is the caller's from now on. */
  take(memoryMb: number): WebAssembly.Memory | undefined {
    const memory = this.#memory;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#memory = undefined;
    this.#writtenBytes = 0;
    this.#bytes = null;
    return memory?.buffer.byteLength === memoryMb * mib ? memory : undefined;
  }

  #soon(): NodeJS.Timeout {
    return setTimeout(() => this.#write(), restMs).unref();
  }

  #write(): void {
    this.#timer = null;
    const left = this.#wantedBytes - this.#writtenBytes;
    if (left <= 0 || left > this.#freeBytes() * share) return;
    const end = Math.min(this.#wantedBytes, this.#writtenBytes + sliceBytes);
    for (; this.#writtenBytes < end; this.#writtenBytes += pageBytes) this.#bytes![this.#writtenBytes] = 0;
    this.#timer = this.#soon();
  }
}
