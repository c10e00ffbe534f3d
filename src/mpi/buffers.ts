/**
 * From the arguments of a program (typed arrays, arrays with a datatype) to the place of the bytes.
 *
 * An array in the node's shared memory (`mpi.alloc`) is a pointer: large messages of it are copied once. Any other array is
 * lent to the engine for the time of the request. Tiny ordinary arrays of the common kinds are staged through a few bytes
 * of shared memory instead: cheaper than a loan, and no object is made.
 */

import type { Pointer } from "../core/base/brand.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { checkCount, checkSize } from "../core/binding/checks.ts";
import { Datatype } from "../core/comm/datatype/datatype.ts";
import type { ItemsInMemory } from "../core/comm/datatype/pack.ts";
import { type Views, viewsOf } from "../core/comm/datatype/views.ts";
import type { Memory } from "../core/request/memory.ts";
import { SeenArray, SeenKind } from "./seen-array.ts";

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
export interface TypedBuffer<T extends TypedArray = TypedArray> {
  readonly data: T;
  readonly type: Datatype;
  /** Defaults to as many as fit. */
  readonly count?: number;
  readonly offset?: number;
}

export type BufferLike<T extends TypedArray = TypedArray> = T | TypedBuffer<T>;

const nothing = new Uint8Array(0);

/** Up to here arrays are staged. */
export const stagedBytesMax = 64;

export class Buffers {
  readonly memory: Memory;
  /** The shared memory as kernels of reductions see it. */
  readonly views: Views;
  readonly #shared: ArrayBufferLike;
  /** One place for what is being sent, one for what is being received: a receive may run while a send is staged. */
  readonly stageOut: Pointer;
  readonly stageIn: Pointer;
  readonly #bytes: Uint8Array;
  readonly #ints: Int32Array;
  readonly #doubles: Float64Array;
  /** The arrays that blocking sends and receives used last. */
  readonly seenOut: SeenArray;
  readonly seenIn: SeenArray;

  constructor(memory: Memory) {
    this.memory = memory;
    this.#shared = memory.bytes.buffer;
    this.views = viewsOf(memory.bytes.buffer);
    this.#bytes = memory.bytes;
    this.#ints = new Int32Array(this.#shared);
    this.#doubles = new Float64Array(this.#shared);
    this.stageOut = memory.allocate(stagedBytesMax);
    this.stageIn = memory.allocate(stagedBytesMax);
    this.seenOut = new SeenArray(nothing);
    this.seenIn = new SeenArray(nothing);
  }

  /** Makes `seen` tell of this array. */
  see(seen: SeenArray, array: TypedArray): void {
    if (seen.is(array)) return;
    seen.bytes = array.byteLength;
    if (this.isShared(array)) {
      seen.kind = SeenKind.SHARED;
      seen.pointer = array.byteOffset as Pointer;
    } else if (seen.bytes <= stagedBytesMax && this.canStage(array)) seen.kind = SeenKind.STAGED;
    else {
      seen.kind = SeenKind.LENT;
      seen.view = asBytes(array);
    }
    seen.remember(array);
  }

  /** A pointer to an array that `seen` tells of, and that is not staged; the loan ends by `giveBack` or with a request. */
  pointerTo(seen: SeenArray): Pointer {
    return seen.kind === SeenKind.SHARED ? seen.pointer : this.memory.lend(seen.view);
  }

  /** The offset is asked first: no shared array lies at 0, and V8 makes the buffer of a small array only when it is asked for. */
  isShared(view: TypedArray): boolean {
    return view.byteOffset !== 0 && view.buffer === this.#shared;
  }

  /** The pointer of an array for the time of a request; the engine ends the loan with the request. */
  pointerOf(view: TypedArray): Pointer {
    return this.isShared(view) ? (view.byteOffset as Pointer) : this.memory.lend(asBytes(view));
  }

  /** Can the array go through the stage, when it is tiny? */
  canStage(view: TypedArray): boolean {
    return view instanceof Float64Array || view instanceof Int32Array || view instanceof Uint8Array;
  }

  /** All bytes of an array to shareable memory. Tiny ones element by element: any call costs more. */
  copyIn(view: TypedArray, to: Pointer, bytes = view.byteLength): void {
    if (bytes > stagedBytesMax) this.#bytes.set(asBytes(view), to);
    else if (view instanceof Float64Array) {
      for (let i = 0; i < view.length; i++) this.#doubles[(to >> 3) + i] = view[i]!;
    } else if (view instanceof Int32Array) {
      for (let i = 0; i < view.length; i++) this.#ints[(to >> 2) + i] = view[i]!;
    } else if (view instanceof Uint8Array) {
      for (let i = 0; i < view.length; i++) this.#bytes[to + i] = view[i]!;
    } else this.#bytes.set(asBytes(view), to);
  }

  /** The way back: `bytes` bytes to the start of the array. A broken last element is copied bytewise. */
  copyOut(view: TypedArray, from: Pointer, bytes: number): void {
    if (bytes > stagedBytesMax) asBytes(view).set(this.#bytes.subarray(from, from + bytes));
    else if (view instanceof Float64Array && (bytes & 7) === 0) {
      for (let i = 0; i < bytes >> 3; i++) view[i] = this.#doubles[(from >> 3) + i]!;
    } else if (view instanceof Int32Array && (bytes & 3) === 0) {
      for (let i = 0; i < bytes >> 2; i++) view[i] = this.#ints[(from >> 2) + i]!;
    } else if (view instanceof Uint8Array) {
      for (let i = 0; i < bytes; i++) view[i] = this.#bytes[from + i]!;
    } else asBytes(view).set(this.#bytes.subarray(from, from + bytes));
  }
}

export function asBytes(view: ArrayBufferView): Uint8Array {
  return view instanceof Uint8Array ? view : new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

export function isTypedArray(value: unknown): value is TypedArray {
  return ArrayBuffer.isView(value);
}

/** By the datatype: an object of the program's may well have fields of these names. */
export function isTypedBuffer(value: unknown): value is TypedBuffer {
  if (typeof value !== "object" || value === null || !("data" in value) || !("type" in value)) return false;
  return value.type instanceof Datatype && ArrayBuffer.isView(value.data);
}

/** The array that holds the elements of a buffer. */
export function arrayOf<T extends TypedArray>(buffer: BufferLike<T>): T {
  return isTypedArray(buffer) ? buffer : (buffer as TypedBuffer<T>).data;
}

/** A typed buffer with its defaults filled in and its bounds checked. */
export function normalized(buffer: TypedBuffer): ItemsInMemory {
  const { type, offset = 0 } = buffer;
  const bytes = asBytes(buffer.data);
  if (!type.isCommitted) {
    throw new MpiError(ErrorClass.TYPE, `Cannot use ${nameOf(type)}: it is not committed; call its commit() first`);
  }
  const count = buffer.count ?? itemsWithin(type, bytes.length - offset);
  checkCount(count);
  checkSize(count * Math.max(type.size, Math.abs(type.extent)));
  const items = { bytes, offset, count, type };
  checkBounds(items);
  return items;
}

export function checkBounds({ bytes, offset, count, type }: ItemsInMemory): void {
  if (count === 0) return;
  const last = (count - 1) * type.extent;
  const low = offset + type.trueLb + Math.min(0, last);
  const high = offset + type.trueUb + Math.max(0, last);
  if (low >= 0 && high <= bytes.length) return;
  throw new MpiError(
    ErrorClass.BUFFER,
    `Cannot use ${count} × ${nameOf(type)} at byte ${offset}: that is bytes ${low} to ${high} and the array has ${bytes.length}`,
  );
}

/** How many items fit into so many bytes behind the origin. */
function itemsWithin(type: Datatype, room: number): number {
  if (type.extent <= 0 || room < type.trueUb) return 0;
  return Math.floor((room - type.trueUb) / type.extent) + 1;
}

const nameOf = (type: Datatype): string => type.name || "the datatype";
