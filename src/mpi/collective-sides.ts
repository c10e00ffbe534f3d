/** The sides of a TypeScript program's collectives (core/binding/collective-side.ts): items in its arrays. */
import type { Pointer } from "../core/base/brand.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { checkCount, checkSize } from "../core/binding/checks.ts";
import type { Ground } from "../core/binding/collective-side.ts";
import { type ItemsInMemory, pack, unpack } from "../core/comm/datatype/pack.ts";
import type { Memory } from "../core/request/memory.ts";
import {
  asBytes,
  type BufferLike,
  type Buffers,
  checkBounds,
  isTypedArray,
  isTypedBuffer,
  normalized,
  type TypedArray,
} from "./buffers.ts";
import { arrayLike, elementBytesOf, typeOf } from "./element-types.ts";

/** In the place of what is sent (or, for a scatter, of where it goes): it is in the other buffer already. */
export const IN_PLACE: unique symbol = Symbol("MPI_IN_PLACE");
export type InPlace = typeof IN_PLACE;

/** The arrays of a program: those in shared memory are used there, others are lent. */
export class ArrayGround implements Ground<ItemsInMemory> {
  readonly memory: Memory;
  readonly #buffers: Buffers;

  constructor(buffers: Buffers) {
    this.memory = buffers.memory;
    this.#buffers = buffers;
  }

  pointerTo({ bytes, offset, count, type }: ItemsInMemory): Pointer {
    const length = type.size * count;
    checkSize(length);
    const start = offset + type.trueLb;
    const isWhole = start === 0 && length === bytes.length;
    return this.#buffers.pointerOf(isWhole ? bytes : bytes.subarray(start, start + length));
  }

  /** Parts of one array. */
  pointerToAll(parts: readonly ItemsInMemory[]): { pointer: Pointer; offsets: number[] } | null {
    const bytes = parts[0]?.bytes ?? nothing.bytes;
    if (!parts.every((part) => part.bytes === bytes)) return null;
    checkSize(bytes.length);
    return { pointer: this.#buffers.pointerOf(bytes), offsets: parts.map(({ offset, type }) => offset + type.trueLb) };
  }

  pack(items: ItemsInMemory, to: number): void {
    pack(items, { bytes: this.memory.bytes, offset: to });
  }

  unpack(items: ItemsInMemory, from: number): void {
    unpack({ bytes: this.memory.bytes, offset: from }, items);
  }
}

/** Counts of a v form, one for each peer, and displacements; those default to one block behind the other. */
export interface PartLayout {
  readonly counts: readonly number[] | Int32Array;
  readonly displacements?: readonly number[] | Int32Array | undefined;
}

const nothing: ItemsInMemory = { bytes: new Uint8Array(0), offset: 0, count: 0, type: typeOf(new Uint8Array(0)) };

/** A buffer for each peer, null where there is nothing: the w forms. */
export const itemsOfParts = (parts: readonly (BufferLike | null)[]): ItemsInMemory[] =>
  parts.map((part) => (part === null ? nothing : elementsOf(part)));

function checkBuffer(buffer: unknown): void {
  if (isTypedBuffer(buffer)) return;
  throw new MpiError(ErrorClass.BUFFER, "Cannot use the buffer: it is no typed array, and no array with a datatype");
}

/** The elements of a buffer, whatever it is. */
export function elementsOf(buffer: BufferLike): ItemsInMemory {
  if (!isTypedArray(buffer)) {
    checkBuffer(buffer);
    return normalized(buffer);
  }
  const type = typeOf(buffer);
  return { bytes: asBytes(buffer), offset: 0, count: buffer.byteLength / type.size, type };
}

/** Blocks of one buffer: counts and displacements in elements. */
export function itemsOfBlocks(buffer: BufferLike, { counts, displacements }: PartLayout): ItemsInMemory[] {
  if (displacements !== undefined && displacements.length !== counts.length) {
    const message = `Cannot use ${displacements.length} displacements: there are ${counts.length} counts`;
    throw new MpiError(ErrorClass.ARG, message);
  }
  const { bytes, offset: base, type } = elementsOf(isTypedArray(buffer) ? buffer : { ...buffer, count: 0 });
  let next = 0;
  return Array.from(counts, (count, peer) => {
    checkCount(count);
    const displacement = displacements?.[peer] ?? next;
    next = displacement + count;
    const block = { bytes, offset: base + displacement * type.extent, count, type };
    checkBounds(block);
    return block;
  });
}

/** How many bytes of packed elements a buffer holds. */
export function packedBytesOf(buffer: BufferLike): number {
  if (isTypedArray(buffer)) return buffer.byteLength;
  checkBuffer(buffer);
  const { type, count } = normalized(buffer);
  return type.size * count;
}

/** How many elements a buffer holds: of its datatype, or of the array's own. */
export function countOf(buffer: BufferLike): number {
  if (isTypedArray(buffer)) return buffer.byteLength / elementBytesOf(buffer);
  checkBuffer(buffer);
  return normalized(buffer).count;
}

/** A new array for `count` elements, of the kind and layout of `buffer`. */
export function newArrayFor<T extends TypedArray>(buffer: BufferLike<T>, count: number): BufferLike<T> {
  if (isTypedArray(buffer)) {
    checkSize(count * elementBytesOf(buffer));
    return arrayLike(buffer, count);
  }
  checkBuffer(buffer);
  const { data, type } = buffer;
  const bytes = count === 0 ? 0 : Math.max(count * type.extent, (count - 1) * type.extent + type.trueUb);
  checkSize(bytes);
  return { data: arrayLike(data, Math.ceil(bytes / elementBytesOf(data))), type, count };
}

/** A new array that has room for the blocks of a v form. */
export function newArrayForBlocks<T extends TypedArray>(buffer: BufferLike<T>, layout: PartLayout): BufferLike<T> {
  let [items, next] = [0, 0];
  Array.from(layout.counts).forEach((count, peer) => {
    next = (layout.displacements?.[peer] ?? next) + count;
    items = Math.max(items, next);
  });
  return newArrayFor(buffer, items);
}
