/**
 * The runtime's part of the memory of a C program (docs/adr/0005-c-programs.md): from the top down, above a limit that the
 * program's `sbrk` does not pass. Below the break lies what is the program's. Both marks are words of that memory, in a struct
 * that the support code exports.
 *
 * The system gives a page of memory when it is touched for the first time, which takes longer than to fill it (1.4 to 4 µs for 4 KiB). A
 * process that waits can do that for memory which it will need: it is below the limit, in pages that are still zero (ADR 88).
 */
import type { Pointer } from "../base/brand.ts";
import { ErrorClass, MpiError } from "../base/mpi-error.ts";
import { lives } from "../base/saved-classes.ts";
import { BREAK, type HeapRange, LIMIT } from "./memory-marks.ts";
import { heapChunkBytes, SpanHeap } from "./span-heap.ts";

const pageBytes = 4096;
/** Touched in one `prepare`, some six microseconds: a message may come meanwhile. */
const preparedPagesMax = 4;
/** Fewer are not worth it. */
const expectedBytesMin = 128 << 10;
const expectedBytesMax = 2 << 20;
/** Room above the break that is left to the program: pages that it never needs should not be touched for it. */
const breakBytesFree = 1 << 20;

export class ProgramHeap {
  static readonly unsaved = { expectedBytes: 0, preparedFrom: 0 };
  private readonly words: Int32Array;
  private readonly bytes: number;
  private readonly spans: SpanHeap;
  /** Where the marks are; 0 until the program is there. */
  private marks = 0;
  private limit: number;
  /** How much of the memory below the limit is to be ready, and where the ready part begins. */
  private expectedBytes = 0;
  private preparedFrom: number;

  /** `words`: all of the memory. */
  constructor(words: Int32Array) {
    this.words = words;
    this.bytes = words.byteLength;
    this.limit = words.byteLength;
    this.preparedFrom = words.byteLength;
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

  /** Whole chunks: the first to be used of one that is claimed are its lowest bytes. */
  expect(bytes: number): void {
    const chunks = bytes < expectedBytesMin ? 0 : Math.ceil(bytes / heapChunkBytes);
    this.expectedBytes = Math.min(chunks * heapChunkBytes, expectedBytesMax);
  }

  prepare(): boolean {
    // More was claimed than was ready.
    if (this.preparedFrom > this.limit) this.preparedFrom = this.limit;
    const aim = Math.max(this.limit - this.expectedBytes, this.end + breakBytesFree);
    if (this.preparedFrom - pageBytes < aim) return false;
    for (let pages = 0; pages < preparedPagesMax && this.preparedFrom - pageBytes >= aim; pages++) {
      this.preparedFrom -= pageBytes;
      this.words[this.preparedFrom >> 2] = 0;
    }
    return true;
  }

  /** Of the program's part. */
  private get end(): number {
    return this.marks === 0 ? 0 : this.words[(this.marks >> 2) + BREAK]!;
  }

  private claim(bytes: number): number {
    const limit = this.limit - bytes;
    if (limit < this.end) return 0;
    this.limit = limit;
    if (this.marks !== 0) this.words[(this.marks >> 2) + LIMIT] = limit;
    return limit;
  }
}

lives({ ProgramHeap });
