/**
 * One side of a collective (what it sends, or where the result goes) as the packed bytes that schedules move.
 *
 * Elements that lie side by side are used where they are: a pointer into the node's shared memory, or a view lent for the
 * time of the operation. Elements with gaps go through scratch memory: packed before, unpacked behind.
 */
import type { Pointer } from "../core/base/brand.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { checkSize } from "../core/binding/checks.ts";
import type { Blocks } from "../core/coll/schedule.ts";
import { pack, unpack } from "../core/comm/pack.ts";
import {
  arrayOf,
  asBytes,
  type BufferLike,
  type Buffers,
  checkBounds,
  type Items,
  isTypedArray,
  isTypedBuffer,
  normalized,
  type TypedArray,
} from "./buffers.ts";
import { arrayLike, elementBytesOf, typeOf } from "./element-types.ts";

/** In the place of what is sent (or, for a scatter, of where it goes): it is in the other buffer already. */
export const IN_PLACE: unique symbol = Symbol("MPI_IN_PLACE");
export type InPlace = typeof IN_PLACE;

const noBlocks: Blocks = { bytes: [], offsets: [] };
const nowhere = 0 as Pointer;

export class Side {
  readonly pointer: Pointer;
  readonly bytes: number;
  /** Where the part of each peer lies, for the forms that say so. */
  readonly blocks: Blocks;
  readonly #buffers: Buffers;
  /** What the scratch memory stands for; null when there is none. */
  readonly #scattered: readonly Items[] | null;

  constructor(buffers: Buffers, pointer: Pointer, bytes: number, blocks = noBlocks, scattered: Items[] | null = null) {
    this.#buffers = buffers;
    this.pointer = pointer;
    this.bytes = bytes;
    this.blocks = blocks;
    this.#scattered = scattered;
  }

  /** The bytes have arrived: to where the program wants them. */
  deliver(): void {
    if (this.#scattered === null) return;
    const { bytes: memory } = this.#buffers.memory;
    let at: number = this.pointer;
    for (const { type, count, bytes, offset } of this.#scattered) {
      at += unpack(type, count, memory, at, bytes, offset);
    }
  }

  /** The operation is over. After a failure peers may still read from scratch memory, which therefore stays. */
  end(failed: boolean): void {
    const { memory } = this.#buffers;
    if (this.pointer < 0) memory.giveBack(this.pointer);
    else if (this.#scattered !== null && !failed) memory.free(this.pointer);
  }

  /** Nothing at all: a side that the standard calls not significant. */
  static none(buffers: Buffers): Side {
    return new Side(buffers, nowhere, 0);
  }

  /** A whole buffer. `load`: its contents matter before the operation. */
  static of(buffers: Buffers, buffer: BufferLike, load: boolean): Side {
    if (isTypedArray(buffer)) {
      const { byteLength } = buffer;
      checkSize(byteLength);
      return new Side(buffers, buffers.pointerOf(buffer), byteLength);
    }
    checkBuffer(buffer);
    const items = normalized(buffer);
    const { type, count, bytes, offset } = items;
    if (!type.isContiguous(count)) return scratchSide(buffers, [items], load);
    const length = type.size * count;
    const view = bytes.subarray(offset + type.trueLb, offset + type.trueLb + length);
    return new Side(buffers, buffers.pointerOf(view), length);
  }

  /** Blocks of one buffer: counts and displacements in elements. */
  static ofBlocks(buffers: Buffers, buffer: BufferLike, layout: Layout, load: boolean): Side {
    const blocks = itemsOfBlocks(buffer, layout);
    if (!blocks.every(({ type, count }) => type.isContiguous(count))) return scratchSide(buffers, blocks, load);
    const array = arrayOf(buffer);
    checkSize(array.byteLength);
    return new Side(buffers, buffers.pointerOf(array), array.byteLength, {
      bytes: blocks.map(({ type, count }) => type.size * count),
      offsets: blocks.map(({ type, offset }) => offset + type.trueLb),
    });
  }

  /** A buffer for each peer, null where there is nothing: the w forms. */
  static ofParts(buffers: Buffers, parts: readonly (BufferLike | null)[], load: boolean): Side {
    return scratchSide(
      buffers,
      parts.map((part) => (part === null ? nothing : itemsOf(part))),
      load,
    );
  }
}

/** Counts of a v form, one for each peer, and displacements; those default to one block behind the other. */
export interface Layout {
  readonly counts: readonly number[] | Int32Array;
  readonly displacements?: readonly number[] | Int32Array | undefined;
}

const nothing: Items = { bytes: new Uint8Array(0), offset: 0, count: 0, type: typeOf(new Uint8Array(0)) };

function scratchSide(buffers: Buffers, parts: Items[], load: boolean): Side {
  const sizes = parts.map(({ type, count }) => type.size * count);
  const offsets: number[] = [];
  let total = 0;
  for (const size of sizes) {
    offsets.push(total);
    total += size;
  }
  checkSize(total);
  const { memory } = buffers;
  const pointer = memory.allocate(total);
  if (load) {
    parts.forEach(({ type, count, bytes, offset }, part) => {
      pack(type, count, bytes, offset, memory.bytes, pointer + offsets[part]!);
    });
  }
  return new Side(buffers, pointer, total, { bytes: sizes, offsets }, parts);
}

function checkBuffer(buffer: unknown): void {
  if (isTypedBuffer(buffer)) return;
  throw new MpiError(ErrorClass.BUFFER, "Cannot use the buffer: it is no typed array, and no array with a datatype");
}

/** The elements of a buffer, whatever it is. */
export function itemsOf(buffer: BufferLike): Items {
  if (!isTypedArray(buffer)) {
    checkBuffer(buffer);
    return normalized(buffer);
  }
  const type = typeOf(buffer);
  return { bytes: asBytes(buffer), offset: 0, count: buffer.byteLength / type.size, type };
}

function itemsOfBlocks(buffer: BufferLike, { counts, displacements }: Layout): Items[] {
  if (displacements !== undefined && displacements.length !== counts.length) {
    const message = `Cannot use ${displacements.length} displacements: there are ${counts.length} counts`;
    throw new MpiError(ErrorClass.ARG, message);
  }
  const { bytes, offset: base, type } = itemsOf(isTypedArray(buffer) ? buffer : { ...buffer, count: 0 });
  let next = 0;
  return Array.from(counts, (count, peer) => {
    if (!Number.isInteger(count) || count < 0) {
      throw new MpiError(
        ErrorClass.COUNT,
        `Cannot use a count of ${count} for rank ${peer}: counts are whole numbers from 0`,
      );
    }
    const displacement = displacements?.[peer] ?? next;
    next = displacement + count;
    const block = { bytes, offset: base + displacement * type.extent, count, type };
    checkBounds(block);
    return block;
  });
}

/** How many bytes of packed elements a buffer holds. */
export function packedBytes(buffer: BufferLike): number {
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
export function newArrayForBlocks<T extends TypedArray>(buffer: BufferLike<T>, layout: Layout): BufferLike<T> {
  let [items, next] = [0, 0];
  Array.from(layout.counts).forEach((count, peer) => {
    next = (layout.displacements?.[peer] ?? next) + count;
    items = Math.max(items, next);
  });
  return newArrayFor(buffer, items);
}
