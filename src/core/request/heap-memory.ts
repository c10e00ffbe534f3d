/** The common part of every `Memory` of a C program: its heap at the end of the program's own memory, and no lent views. */
import { assert } from "../base/assert.ts";
import type { Pointer } from "../base/brand.ts";
import type { HeapRange } from "./memory-marks.ts";
import { ProgramHeap } from "./program-heap.ts";

export abstract class HeapMemory {
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  private readonly heap: ProgramHeap;

  /** All of the memory, twice. */
  constructor(bytes: Uint8Array, words: Int32Array) {
    this.bytes = bytes;
    this.words = words;
    this.heap = new ProgramHeap(words);
  }

  /** The module is there, and has its marks at that address. */
  attach(marks: number): void {
    this.heap.attach(marks);
  }

  /** The parts that are in use, for an image. */
  ranges(): HeapRange[] {
    return this.heap.ranges();
  }

  allocate(bytes: number): Pointer {
    return this.heap.allocate(bytes);
  }

  free(pointer: Pointer): void {
    this.heap.free(pointer);
  }

  expect(bytes: number): void {
    this.heap.expect(bytes);
  }

  prepare(): boolean {
    return this.heap.prepare();
  }

  lend(_view: Uint8Array): Pointer {
    assert(false, "buffers of a C program are addresses of its memory");
  }

  giveBack(_pointer: Pointer): void {}

  view(pointer: Pointer, bytes: number): Uint8Array {
    // `subarray` would give fewer bytes instead, and callers hand the length they asked for to native calls.
    assert(pointer >= 0 && bytes >= 0 && pointer + bytes <= this.bytes.length, "bytes outside the program's memory");
    return this.bytes.subarray(pointer, pointer + bytes);
  }
}
