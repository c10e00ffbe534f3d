/**
 * One side of a collective, the data that is sent or the place of the result, as the packed bytes that schedules move: in place where
 * the program's elements lie side by side, in scratch memory where they do not.
 */
import type { Pointer } from "../base/brand.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import { saves } from "../base/saved-classes.ts";
import type { Blocks } from "../coll/engine/schedule.ts";
import type { Datatype } from "../comm/datatype/datatype.ts";
import type { Memory } from "../request/memory.ts";
import { checkSize } from "./checks.ts";

/** `count` items of `type`, whose bounds are checked. Only the face knows their place. */
export interface Items {
  readonly count: number;
  readonly type: Datatype;
}

/** One side of a collective: items side by side, a part for each peer, or nothing. */
export type Parts<I extends Items> = I | readonly I[] | null;

/** How a face reaches the items of its program. */
export interface Ground<I extends Items> {
  readonly memory: Memory;
  /** Where items are that lie side by side: in shareable memory, or lent until the side ends. */
  pointerTo(items: I): Pointer;
  /** The same for several of them, behind one pointer; null: they have none in common. */
  pointerToAll(parts: readonly I[]): { readonly pointer: Pointer; readonly offsets: readonly number[] } | null;
  pack(items: I, to: number): void;
  unpack(items: I, from: number): void;
}

const noBlocks: Blocks = { bytes: [], offsets: [] };

export const bytesOf = ({ type, count }: Items): number => type.size * count;

export class Side<I extends Items = Items> {
  readonly pointer: Pointer;
  readonly bytes: number;
  /** Where the part of each peer lies, for sides that are made of parts. */
  readonly blocks: Blocks;
  /** The items that the scratch memory stands for, in packing order; null: there is none. */
  private readonly scattered: readonly I[] | null;

  private constructor(pointer: Pointer, bytes: number, blocks: Blocks, scattered: readonly I[] | null) {
    this.pointer = pointer;
    this.bytes = bytes;
    this.blocks = blocks;
    this.scattered = scattered;
  }

  /** This rank has nothing on that side. */
  static readonly nothing: Side<never> = new Side(0 as Pointer, 0, noBlocks, null);

  /** Bytes that are used where they are, whatever they mean. */
  static at(pointer: Pointer, bytes: number): Side<never> {
    return new Side(pointer, bytes, noBlocks, null);
  }

  /** `load`: what lies there is sent, or must survive. */
  static of<I extends Items>(ground: Ground<I>, parts: Parts<I>, load: boolean): Side<I> {
    if (parts === null) return Side.nothing;
    return isList(parts) ? Side.ofParts(ground, parts, load) : Side.ofItems(ground, parts, load);
  }

  private static ofItems<I extends Items>(ground: Ground<I>, items: I, load: boolean): Side<I> {
    const bytes = bytesOf(items);
    if (items.type.isContiguous(items.count)) return new Side<I>(ground.pointerTo(items), bytes, noBlocks, null);
    return Side.packed(ground, [items], bytes, noBlocks, load);
  }

  private static ofParts<I extends Items>(ground: Ground<I>, parts: readonly I[], load: boolean): Side<I> {
    const bytes = parts.map(bytesOf);
    if (parts.every(({ type, count }) => type.isContiguous(count))) {
      const place = ground.pointerToAll(parts);
      if (place !== null) return new Side<I>(place.pointer, 0, { bytes, offsets: place.offsets }, null);
    }
    let total = 0;
    const offsets = bytes.map((length) => {
      total += length;
      return total - length;
    });
    return Side.packed(ground, parts, total, { bytes, offsets }, load);
  }

  /**
   * A side of `parts` equal parts, made again with parts of another length: what is too long is cut, what is missing is
   * zero. For callers whose own two sides do not match: the others expect parts of that length.
   */
  static refitted<I extends Items>(
    { memory }: Ground<I>,
    side: Side<I>,
    parts: number,
    from: number,
    to: number,
  ): Side<I> {
    const pointer = memory.allocate(parts * to);
    memory.bytes.fill(0, pointer, pointer + parts * to);
    for (let part = 0; part < parts; part++) {
      memory.copy(pointer, part * to, side.pointer, part * from, Math.min(from, to));
    }
    return new Side<I>(pointer, parts * to, noBlocks, []);
  }

  private static packed<I extends Items>(
    ground: Ground<I>,
    parts: readonly I[],
    bytes: number,
    blocks: Blocks,
    load: boolean,
  ): Side<I> {
    checkSize(bytes);
    const side = new Side<I>(ground.memory.allocate(bytes), bytes, blocks, parts);
    if (load) side.each((items, at) => ground.pack(items, at));
    return side;
  }

  /** The bytes have arrived: to where the program wants them. */
  deliver(ground: Ground<I>): void {
    this.each((items, at) => ground.unpack(items, at));
  }

  /** The operation is over. After a failure peers may still read from scratch memory, which therefore stays. */
  end({ memory }: Ground<I>, failed: boolean): void {
    if (this.pointer < 0) memory.giveBack(this.pointer);
    else if (this.scattered !== null && !failed) memory.free(this.pointer);
  }

  private each(move: (items: I, at: number) => void): void {
    let at: number = this.pointer;
    for (const items of this.scattered ?? []) {
      move(items, at);
      at += bytesOf(items);
    }
  }
}

export const isList = <I extends Items>(parts: Parts<I>): parts is readonly I[] => Array.isArray(parts);

/** Ends the sides of a collective: the result goes to its place, loans and scratch memory are given back. */
export function settle<I extends Items>(ground: Ground<I>, sent: Side<I>, received: Side<I>, error: number): void {
  // One that was truncated has run to its end.
  const failed = error !== ErrorClass.SUCCESS && error !== ErrorClass.TRUNCATE;
  if (!failed) received.deliver(ground);
  sent.end(ground, failed);
  if (received !== sent) received.end(ground, failed);
}

saves({ Side });
