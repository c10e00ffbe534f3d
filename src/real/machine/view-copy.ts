/**
 * Copies between an ordinary typed array and the node's shared memory, which WebAssembly cannot do (it sees only the
 * shared memory).
 *
 * `TypedArray.set` with one side shared copies eight bytes at a time with relaxed atomics, and byte by byte when the two
 * sides are not equally aligned. `Buffer.prototype.fill` with an array as the value is, in Node's native code, one memcpy
 * of min(value, range) bytes, for shared memory and any alignment. Measured on Node 20 (Xeon, ns, aligned / not
 * aligned):
 *
 *   bytes              8        32        128       1 KiB       8 KiB        64 KiB          1 MiB
 *   byte loop          10      70–120     230       1 800
 *   set, view at hand  25        40      30 / 88   120 / 700   430 / 3 000  3 000 / 40 000  62 000 / 450 000
 *   … and subarray     90       100      80 / 140  160 / 800   500 / 4 700  3 300 / 36 000  62 000 / 450 000
 *   fill               90        90       90          110         190          1 900           50 000
 *   … and subarray    150       150      140          150         200          2 000           50 000
 *   Buffer.copy       110       120      110          150       470 / 4 900  3 000 / 26 000  58 000 / 470 000
 *   koffi memcpy      115       115      120          160         220          2 000           45 000
 *
 * So: a loop up to 16 bytes; `set` up to 4 KiB where both sides are equally aligned (in ping-pong it beats `fill` up to
 * there: no native call, 1 KiB 0.84 µs instead of 1.17); `fill` for the rest, as fast as a foreign call and without one.
 */
const loopBytesMax = 16;
const setBytesMax = 4096;
const fill = Buffer.prototype.fill;

/** All of `source` to `target` at byte `at`. One of the two is shared memory, or both are. */
export function copyInto(target: Uint8Array, at: number, source: Uint8Array): void {
  const { length } = source;
  if (length <= loopBytesMax) for (let i = 0; i < length; i++) target[at + i] = source[i]!;
  else if (length <= setBytesMax && ((source.byteOffset ^ (target.byteOffset + at)) & 7) === 0) target.set(source, at);
  else fill.call(target, source, at, at + length);
}

/**
 * Copies of some thousand bytes, from one shared memory to another. One small function, because ranks call it long before it is compiled: then
 * the functions of this file together take longer than the copy.
 */
export function longCopy(source: Uint8Array, target: Uint8Array): (to: number, from: number, bytes: number) => void {
  return (to, from, bytes) => {
    fill.call(target, source.subarray(from, from + bytes), to, to + bytes);
  };
}

/** Windows remembered; a power of two. */
const remembered = 256;

/** Parts of one memory as views of their own, remembered by address and length: the same slots and stages come again and again. */
export class Windows {
  readonly #bytes: Uint8Array;
  readonly #at = new Int32Array(remembered).fill(-1);
  readonly #windows: Uint8Array[];

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#windows = Array.from({ length: remembered }, () => bytes);
  }

  of(at: number, bytes: number): Uint8Array {
    const index = ((at >> 7) ^ (at >> 13)) & (remembered - 1);
    const known = this.#windows[index]!;
    if (this.#at[index] === at && known.length === bytes) return known;
    const window = this.#bytes.subarray(at, at + bytes);
    this.#at[index] = at;
    this.#windows[index] = window;
    return window;
  }
}

/** Between a shared memory and views of any other. */
export class ViewCopy {
  readonly #bytes: Uint8Array;
  readonly #windows: Windows;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#windows = new Windows(bytes);
  }

  /** From `view` to `at` in the shared memory. */
  toShared(at: number, view: Uint8Array, offset: number, bytes: number): void {
    const isWhole = offset === 0 && bytes === view.length;
    copyInto(this.#bytes, at, isWhole ? view : view.subarray(offset, offset + bytes));
  }

  /** From `at` in the shared memory to `view`. */
  fromShared(view: Uint8Array, offset: number, at: number, bytes: number): void {
    copyInto(view, offset, this.#windows.of(at, bytes));
  }
}
