/** Typed arrays in the node's shared memory: large messages of them are copied once, receiver from sender. */
import type { Pointer } from "../core/base/brand.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import type { Memory } from "../core/request/memory.ts";

export interface ArrayType<T> {
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): T;
  readonly BYTES_PER_ELEMENT: number;
}

export class SharedArrays {
  readonly #memory: Memory;
  /** Where the program's arrays begin: it may free these and nothing else. */
  readonly #starts = new Set<number>();

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  /** A zero-filled array of `length` elements. It lives until `free` or the end of the rank. */
  alloc<T>(type: ArrayType<T>, length: number): T {
    if (!Number.isSafeInteger(length) || length < 0) {
      const message = `Cannot allocate an array of ${length} elements: lengths are whole numbers from 0`;
      throw new MpiError(ErrorClass.ARG, message);
    }
    const bytes = length * type.BYTES_PER_ELEMENT;
    const pointer = this.#memory.allocate(Math.max(bytes, 1));
    this.#starts.add(pointer);
    this.#memory.bytes.fill(0, pointer, pointer + bytes);
    return new type(this.#memory.bytes.buffer, pointer, length);
  }

  /** Ordinary arrays are left to the garbage collector. */
  free(array: ArrayBufferView): void {
    if (array.buffer !== this.#memory.bytes.buffer) return;
    if (!this.#starts.delete(array.byteOffset)) {
      throw new MpiError(
        ErrorClass.BASE,
        "Cannot free the array: it does not begin where one made by alloc does, or that one is free already",
      );
    }
    this.#memory.free(array.byteOffset as Pointer);
  }
}
