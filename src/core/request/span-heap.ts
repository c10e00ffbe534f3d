/**
 * A process's private allocator over chunks of a memory: the node's heap, or the end of a C program's own memory.
 *
 * All its knowledge is in this thread's own JavaScript memory; the only thing it shares is the node's break pointer, moved
 * by one atomic operation for each chunk of 1 MiB or more. So a thread killed inside `allocate` harms no other, and a
 * program that writes beyond its block cannot damage the allocator.
 *
 * Chunks are cut into spans of 64 KiB. Blocks up to 32 KiB come from spans that hold blocks of one size class only (sizes
 * in steps of a quarter of a power of two), so a block's size follows from its span and needs no header. Larger blocks
 * are runs of whole spans; neighbouring free runs are joined, free runs are listed by power of two. Spans of a small class
 * are never given back to others, and chunks never to the node: what a process once needed it keeps until its end.
 */
import { assert } from "../base/assert.ts";
import { lives } from "../base/saved-classes.ts";

const spanShift = 16;
const spanBytes = 1 << spanShift;
/** Of one claim, at least. */
export const heapChunkBytes = 1 << 20;
const smallBytesMax = 32768;
const smallClasses = 40;
/** Bins of free runs by ⌊log2 spans⌋: 2³¹ bytes are 2¹⁵ spans. */
const bins = 16;

/** The uses of a span, in `use`; smaller values are the size class of its blocks. */
const FOREIGN = 255;
const FREE_EDGE = 254;
const LARGE = 253;
const INSIDE = 252;

/** Classes 0 … 7 are 16 to 128 bytes in steps of 16, then four for each doubling. */
function classOf(bytes: number): number {
  if (bytes <= 128) return bytes <= 16 ? 0 : ((bytes + 15) >> 4) - 1;
  const doubling = 31 - Math.clz32(bytes - 1);
  return 8 + ((doubling - 7) << 2) + (((bytes - 1) >> (doubling - 2)) & 3);
}
function classBytes(index: number): number {
  if (index < 8) return (index + 1) << 4;
  return (5 + ((index - 8) & 3)) << (5 + ((index - 8) >> 2));
}

export class SpanHeap {
  /** Takes a chunk from the node: its address, or 0. */
  private readonly claim: (bytes: number) => number;
  private readonly use: Uint8Array;
  /** Length in spans: at the first span of a large block, at both edges of a free run. */
  private readonly length: Int32Array;
  /** Doubly linked lists of free runs, −1 ends one. */
  private readonly next: Int32Array;
  private readonly previous: Int32Array;
  private readonly bins = new Int32Array(bins).fill(-1);
  /** Free blocks of each small class, and the rest of the span its blocks are being cut from. */
  private readonly freeSmall: number[][] = Array.from({ length: smallClasses }, () => []);
  private readonly cut = new Int32Array(smallClasses);
  private readonly cutEnd = new Int32Array(smallClasses);

  constructor(memoryBytes: number, claim: (bytes: number) => number) {
    const spans = memoryBytes >> spanShift;
    this.claim = claim;
    this.use = new Uint8Array(spans).fill(FOREIGN);
    this.length = new Int32Array(spans);
    this.next = new Int32Array(spans);
    this.previous = new Int32Array(spans);
  }

  /** Address of a block of at least that many bytes, aligned to 16; 0 when the node has no more memory. */
  allocate(bytes: number): number {
    if (bytes > smallBytesMax) return this.takeRun((bytes + spanBytes - 1) >>> spanShift, LARGE) << spanShift;
    const index = classOf(bytes);
    const block = this.freeSmall[index]!.pop();
    if (block !== undefined) return block;
    const size = classBytes(index);
    let at = this.cut[index]!;
    if (at + size > this.cutEnd[index]!) {
      const span = this.takeRun(1, index);
      if (span === 0) return 0;
      at = span << spanShift;
      this.cutEnd[index] = at + spanBytes;
    }
    this.cut[index] = at + size;
    return at;
  }

  free(pointer: number): void {
    const span = pointer >>> spanShift;
    const use = this.use[span]!;
    if (use < smallClasses) this.freeSmall[use]!.push(pointer);
    else {
      assert(
        use === LARGE && pointer === span << spanShift,
        `free of ${pointer}, which is not a block of this process`,
      );
      this.giveRun(span, this.length[span]!);
    }
  }

  /** First span of a run of that length, marked as `use`; 0 when there is none. */
  private takeRun(spans: number, use: number): number {
    // More than there is can be more than an int32 of bytes.
    if (spans >= this.use.length) return 0;
    let run = this.findRun(spans);
    if (run < 0) {
      const bytes = Math.max(heapChunkBytes, spans << spanShift);
      // When the node cannot give a whole chunk, what we need may still be there.
      let length = bytes >> spanShift;
      let chunk = this.claim(bytes);
      if (chunk === 0 && spans << spanShift < bytes) {
        length = spans;
        chunk = this.claim(spans << spanShift);
      }
      if (chunk === 0) return 0;
      this.giveRun(chunk >>> spanShift, length);
      run = this.findRun(spans);
    }
    const length = this.length[run]!;
    this.unlink(run, length);
    if (length > spans) this.link(run + spans, length - spans);
    this.use[run] = use;
    if (spans > 1) this.use[run + spans - 1] = INSIDE;
    this.length[run] = spans;
    return run;
  }

  /** Any run of the bins above the wanted length fits; in the length's own bin we have to look. */
  private findRun(spans: number): number {
    const own = 31 - Math.clz32(spans);
    for (let bin = own; bin < bins; bin++) {
      for (let run = this.bins[bin]!; run >= 0; run = this.next[run]!) {
        if (this.length[run]! >= spans) return run;
      }
    }
    return -1;
  }

  /** A run becomes free and grows together with free neighbours. */
  private giveRun(first: number, spans: number): void {
    let run = first;
    let length = spans;
    if (this.use[run - 1] === FREE_EDGE) {
      const before = this.length[run - 1]!;
      this.unlink(run - before, before);
      this.use[run - 1] = INSIDE;
      this.use[run] = INSIDE;
      run -= before;
      length += before;
    }
    const after = run + length;
    if (after < this.use.length && this.use[after] === FREE_EDGE) {
      const more = this.length[after]!;
      this.unlink(after, more);
      this.use[after] = INSIDE;
      length += more;
    }
    this.link(run, length);
  }

  private link(run: number, length: number): void {
    const last = run + length - 1;
    this.use[run] = FREE_EDGE;
    this.use[last] = FREE_EDGE;
    this.length[run] = length;
    this.length[last] = length;
    const bin = 31 - Math.clz32(length);
    const head = this.bins[bin]!;
    this.next[run] = head;
    this.previous[run] = -1;
    if (head >= 0) this.previous[head] = run;
    this.bins[bin] = run;
  }

  private unlink(run: number, length: number): void {
    const next = this.next[run]!;
    const previous = this.previous[run]!;
    if (next >= 0) this.previous[next] = previous;
    if (previous >= 0) this.next[previous] = next;
    else this.bins[31 - Math.clz32(length)] = next;
  }
}

lives({ SpanHeap });
