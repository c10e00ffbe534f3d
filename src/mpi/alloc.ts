/** Typed arrays in the node's shared memory: large messages of them are copied once, receiver from sender. */
import type { Pointer } from "../core/base/brand.ts";
import type { Memory } from "../core/request/memory.ts";

export interface ArrayType<T> {
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): T;
  readonly BYTES_PER_ELEMENT: number;
}

/** A zero-filled array of `length` elements. It lives until `mpi.free(array)` or the end of the rank. */
export function allocateArray<T>(memory: Memory, type: ArrayType<T>, length: number): T {
  const bytes = length * type.BYTES_PER_ELEMENT;
  const pointer = memory.allocate(Math.max(bytes, 1));
  memory.bytes.fill(0, pointer, pointer + bytes);
  return new type(memory.bytes.buffer, pointer, length);
}

export function freeArray(memory: Memory, array: ArrayBufferView): void {
  if (array.buffer === memory.bytes.buffer) memory.free(array.byteOffset as Pointer);
}
