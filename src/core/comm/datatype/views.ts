/**
 * One buffer seen as every kind of element that operations know, so that a kernel finds its typed array by a field and
 * allocates nothing. There is one for each memory (`viewsOf`), shared by the processes that share the memory; it grows with a resizable buffer.
 *
 * Offsets are bytes from the start of the buffer, up to 4 GiB.
 */
import { assert } from "../../base/assert.ts";

const known = new WeakMap<ArrayBufferLike, Views>();

/** The processes of a simulated node have one memory, and views of it once, not once for each of them. */
export function viewsOf(buffer: ArrayBufferLike): Views {
  const views = known.get(buffer) ?? new Views(buffer);
  known.set(buffer, views);
  return views;
}

/**
 * into = left ∘ right for a multiple of 16 bytes, at byte offsets that need no alignment; `into` may be `left` or `right`, and overlaps them in
 * no other way. Which numbers formats and operations have is in op/fold.ts.
 */
export type Fold = (
  left: number,
  right: number,
  into: number,
  bytes: number,
  format: number,
  operation: number,
) => void;

export class Views {
  readonly buffer: ArrayBufferLike;
  readonly int8: Int8Array;
  readonly uint8: Uint8Array;
  readonly int16: Int16Array;
  readonly uint16: Uint16Array;
  readonly int32: Int32Array;
  readonly uint32: Uint32Array;
  readonly uint64: BigUint64Array;
  readonly float32: Float32Array;
  readonly float64: Float64Array;
  /** A kernel of the machine for this memory; null: there is none. */
  fold: Fold | null = null;

  constructor(buffer: ArrayBufferLike) {
    // Views of a buffer that can grow (the simulator's) grow with it when they are given no length.
    const grows = buffer instanceof ArrayBuffer && buffer.resizable;
    const length = (bytes: number): number | undefined => (grows ? undefined : Math.floor(buffer.byteLength / bytes));
    this.buffer = buffer;
    this.int8 = new Int8Array(buffer);
    this.uint8 = new Uint8Array(buffer);
    this.int16 = new Int16Array(buffer, 0, length(2));
    this.uint16 = new Uint16Array(buffer, 0, length(2));
    this.int32 = new Int32Array(buffer, 0, length(4));
    this.uint32 = new Uint32Array(buffer, 0, length(4));
    this.uint64 = new BigUint64Array(buffer, 0, length(8));
    this.float32 = new Float32Array(buffer, 0, length(4));
    this.float64 = new Float64Array(buffer, 0, length(8));
  }
}

/**
 * into = left ∘ right for `count` items, each operand at a byte offset aligned to its element. `into` may be `left` or `right`
 * itself, or lie apart from both; partial overlaps do not occur.
 */
export type Kernel = (
  left: Views,
  leftAt: number,
  right: Views,
  rightAt: number,
  into: Views,
  intoAt: number,
  count: number,
) => void;

/** For items that consist of several of the kernel's: both halves of a complex number, the bytes of an integer. */
export function scaled(kernel: Kernel, factor: number): Kernel {
  if (factor === 1) return kernel;
  return (l, la, r, ra, o, oa, count) => kernel(l, la, r, ra, o, oa, count * factor);
}

assert(
  new Uint8Array(Uint32Array.of(1).buffer)[0] === 1,
  "the machine is big endian, and kernels assume little endian",
);
