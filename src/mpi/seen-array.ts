/**
 * Buffer, offset and length of the array that a blocking call used last. Asking a typed array for its buffer, offset and length in bytes
 * costs 20 to 50 ns each (V8 makes a call of each), and loops send the same arrays again and again.
 *
 * Only `length` is asked every time, which is free and tells when the array's memory has been taken away from it.
 */
import type { Pointer } from "../core/base/brand.ts";

export const SeenKind = {
  /** Tiny and of a common kind: goes through the stage. */
  STAGED: 0,
  /** In the node's shared memory. */
  SHARED: 1,
  /** Anything else: lent. */
  LENT: 2,
} as const;

/** Larger ordinary arrays are not remembered: we would keep their memory alive. */
const rememberedBytesMax = 1 << 20;

interface WithLength {
  readonly length: number;
}

export class SeenArray {
  kind: number = SeenKind.LENT;
  bytes = 0;
  /** Where it is, when SHARED. */
  pointer = 0 as Pointer;
  /** Its bytes, when LENT. */
  view: Uint8Array;
  #array: ArrayBufferView | null = null;
  #length = -1;

  constructor(nothing: Uint8Array) {
    this.view = nothing;
  }

  is(array: ArrayBufferView): boolean {
    return array === this.#array && (array as ArrayBufferView & WithLength).length === this.#length;
  }

  /** The fields above are those of this array now. */
  remember(array: ArrayBufferView): void {
    const hasLength = !(array instanceof DataView);
    const isSmall = this.kind !== SeenKind.LENT || this.bytes <= rememberedBytesMax;
    this.#array = hasLength && isSmall ? array : null;
    this.#length = hasLength ? (array as ArrayBufferView & WithLength).length : -1;
  }
}
