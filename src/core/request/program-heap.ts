/**
 * The runtime's part of the memory of a C program (docs/adr/0005-c-programs.md): from the top down, above a limit that the
 * program's `sbrk` does not pass. Below the break lies what is the program's. Both marks are words of that memory, in a struct
 * that the support code exports.
 */
import type { Pointer } from "../base/brand.ts";
import { ErrorClass, MpiError } from "../base/mpi-error.ts";
import { lives } from "../base/saved-classes.ts";
import { BREAK, type HeapRange, LIMIT } from "./memory-marks.ts";
import { SpanHeap } from "./span-heap.ts";

export class ProgramHeap {
  private readonly words: Int32Array;
  private readonly bytes: number;
  private readonly spans: SpanHeap;
  /** Where the marks are; 0 until the program is there. */
  private marks = 0;
  private limit: number;

  /** `words`: all of the memory. */
  constructor(words: Int32Array) {
    this.words = words;
    this.bytes = words.byteLength;
    this.limit = words.byteLength;
    this.spans = new SpanHeap(words.byteLength, (bytes) => this.claim(bytes));
  }

  /** The program's memory has its first contents, and the marks are there. */
  attach(marks: number): void {
    this.marks = marks;
    this.words[(marks >> 2) + LIMIT] = this.limit;
  }

  /** The parts that are in use, for an image: the program's, and ours at the end. */
  ranges(): HeapRange[] {
    return [
      [0, this.words[(this.marks >> 2) + BREAK]!],
      [this.limit, this.bytes],
    ];
  }

  allocate(bytes: number): Pointer {
    const pointer = bytes >= 0 && bytes < 2 ** 31 ? this.spans.allocate(bytes) : 0;
    if (pointer === 0) {
      const megabytes = this.bytes >> 20;
      throw new MpiError(
        ErrorClass.NO_MEM,
        `Cannot allocate ${bytes} bytes: the memory of the program (${megabytes} MiB) is used up; run it with --memory ${2 * megabytes}`,
      );
    }
    return pointer as Pointer;
  }

  free(pointer: Pointer): void {
    this.spans.free(pointer);
  }

  private claim(bytes: number): number {
    const limit = this.limit - bytes;
    const end = this.marks === 0 ? 0 : this.words[(this.marks >> 2) + BREAK]!;
    if (limit < end) return 0;
    this.limit = limit;
    if (this.marks !== 0) this.words[(this.marks >> 2) + LIMIT] = limit;
    return limit;
  }
}

lives({ ProgramHeap });
