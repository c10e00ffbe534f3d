/**
 * From what a program hands over (typed arrays, arrays with a datatype) to where the bytes are.
 *
 * An array in the node's shared memory (`mpi.alloc`) is a pointer: large messages of it are copied once. Any other array is
 * lent to the engine for the time of the request. Tiny ordinary arrays of the common kinds are staged through a few bytes
 * of shared memory instead: cheaper than a loan, and no object is made.
 */
import type { Pointer } from "../core/base/brand.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import type { Datatype } from "../core/comm/datatype.ts";
import type { Memory } from "../core/request/memory.ts";

export type TypedArray =
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array
  | DataView;

/** `count` elements of `type`, which may have gaps, from the start of `data` (or `offset` bytes behind it). */
export interface TypedBuffer {
  readonly data: TypedArray;
  readonly type: Datatype;
  /** Defaults to as many as fit. */
  readonly count?: number;
  readonly offset?: number;
}

export type BufferLike = TypedArray | TypedBuffer;

/** Up to here ordinary arrays are staged. */
export const stagedBytesMax = 64;

export class Buffers {
  readonly memory: Memory;
  readonly #shared: ArrayBufferLike;
  /** One place for what is being sent, one for what is being received: a receive may run while a send is staged. */
  readonly stageOut: Pointer;
  readonly stageIn: Pointer;
  readonly #bytes: Uint8Array;
  readonly #ints: Int32Array;
  readonly #doubles: Float64Array;

  constructor(memory: Memory) {
    this.memory = memory;
    this.#shared = memory.bytes.buffer;
    this.#bytes = memory.bytes;
    this.#ints = new Int32Array(this.#shared);
    this.#doubles = new Float64Array(this.#shared);
    this.stageOut = memory.allocate(stagedBytesMax);
    this.stageIn = memory.allocate(stagedBytesMax);
  }

  isShared(view: TypedArray): boolean {
    return view.buffer === this.#shared;
  }

  /** The pointer of an array for the time of a request; the engine ends the loan with the request. */
  pointerOf(view: TypedArray): Pointer {
    if (view.buffer === this.#shared) return view.byteOffset as Pointer;
    return this.memory.lend(asBytes(view));
  }

  /** Copies a tiny ordinary array to the stage; false when it is of a kind that must be lent. */
  stage(view: TypedArray): boolean {
    const at = this.stageOut;
    if (view instanceof Float64Array) {
      for (let i = 0; i < view.length; i++) this.#doubles[(at >> 3) + i] = view[i]!;
      return true;
    }
    if (view instanceof Int32Array) {
      for (let i = 0; i < view.length; i++) this.#ints[(at >> 2) + i] = view[i]!;
      return true;
    }
    if (view instanceof Uint8Array) {
      for (let i = 0; i < view.length; i++) this.#bytes[at + i] = view[i]!;
      return true;
    }
    return false;
  }

  canUnstage(view: TypedArray): boolean {
    return view instanceof Float64Array || view instanceof Int32Array || view instanceof Uint8Array;
  }

  /** Copies `bytes` bytes from the stage to a tiny ordinary array; a broken last element is copied bytewise. */
  unstage(view: TypedArray, bytes: number): void {
    const at = this.stageIn;
    if (view instanceof Float64Array && (bytes & 7) === 0) {
      for (let i = 0; i < bytes >> 3; i++) view[i] = this.#doubles[(at >> 3) + i]!;
    } else if (view instanceof Int32Array && (bytes & 3) === 0) {
      for (let i = 0; i < bytes >> 2; i++) view[i] = this.#ints[(at >> 2) + i]!;
    } else asBytes(view).set(this.#bytes.subarray(at, at + bytes));
  }
}

export function asBytes(view: ArrayBufferView): Uint8Array {
  return view instanceof Uint8Array ? view : new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

export function isTypedArray(value: unknown): value is TypedArray {
  return ArrayBuffer.isView(value);
}

export function isTypedBuffer(value: unknown): value is TypedBuffer {
  return (
    typeof value === "object" && value !== null && "data" in value && "type" in value && ArrayBuffer.isView(value.data)
  );
}

/** A typed buffer with its defaults filled in and its bounds checked. */
export function normalized(buffer: TypedBuffer): { bytes: Uint8Array; offset: number; count: number; type: Datatype } {
  const { type, offset = 0 } = buffer;
  const bytes = asBytes(buffer.data);
  const room = bytes.length - offset;
  const count = buffer.count ?? (type.extent > 0 ? Math.floor((room - type.trueExtent) / type.extent) + 1 : 0);
  if (!Number.isInteger(count) || count < 0) {
    throw new MpiError(ErrorClass.COUNT, `Cannot use a count of ${count}: counts are whole numbers from 0`);
  }
  const span = count === 0 ? 0 : type.trueLb + (count - 1) * type.extent + type.trueExtent;
  if (offset < 0 || offset + Math.max(span, 0) > bytes.length) {
    throw new MpiError(
      ErrorClass.BUFFER,
      `Cannot use ${count} elements at byte ${offset}: they span ${span} bytes and the array has ${bytes.length}`,
    );
  }
  return { bytes, offset, count, type };
}
