/**
 * One side of a collective (what it sends, or where the result goes) as the packed bytes that schedules move: in place where
 * the program's elements lie side by side, in scratch memory where they do not.
 */
import type { Pointer } from "../core/base/brand.ts";
import { ErrorClass } from "../core/base/mpi-error.ts";
import { saves } from "../core/base/saved-classes.ts";
import type { Blocks } from "../core/coll/schedule.ts";
import type { Datatype } from "../core/comm/datatype.ts";
import { pack, unpack } from "../core/comm/pack.ts";
import { bufferBytes, startOf } from "./buffers.ts";
import type { After } from "./objects.ts";
import type { Program } from "./program.ts";

/** `count` items of `type`, the origin of the first at `address`. Made by `itemsAt` alone, which checks them. */
export interface Items {
  readonly address: number;
  readonly count: number;
  readonly type: Datatype;
}

export function itemsAt(program: Program, address: number, count: number, type: Datatype): Items {
  bufferBytes(program, address, count, type);
  return { address, count, type };
}

/** What one side of a collective is: items side by side, a part for each peer, or nothing. */
export type Parts = Items | readonly Items[] | null;

const noBlocks: Blocks = { bytes: [], offsets: [] };

export class Side {
  readonly pointer: Pointer;
  readonly bytes: number;
  /** Where the part of each peer lies, for sides that are made of parts. */
  readonly blocks: Blocks;
  /** What the scratch memory stands for, in packing order; null: there is none. */
  private readonly scattered: readonly Items[] | null;

  private constructor(pointer: Pointer, bytes: number, blocks: Blocks, scattered: readonly Items[] | null) {
    this.pointer = pointer;
    this.bytes = bytes;
    this.blocks = blocks;
    this.scattered = scattered;
  }

  /** This rank has nothing on that side. */
  static readonly nothing: Side = new Side(0 as Pointer, 0, noBlocks, null);

  /** Bytes that are used where they are, whatever they mean. */
  static at(address: number, bytes: number): Side {
    return new Side(address as Pointer, bytes, noBlocks, null);
  }

  /** `load`: what lies there is sent, or must survive. */
  static of(program: Program, parts: Parts, load: boolean): Side {
    if (parts === null) return Side.nothing;
    return isList(parts) ? Side.ofParts(program, parts, load) : Side.ofItems(program, parts, load);
  }

  private static ofItems(program: Program, items: Items, load: boolean): Side {
    const { address, count, type } = items;
    const bytes = type.size * count;
    if (type.isContiguous(count)) return Side.at(startOf(address, bytes, type), bytes);
    return Side.packed(program, [items], bytes, noBlocks, load);
  }

  /** A part for each peer. */
  private static ofParts(program: Program, parts: readonly Items[], load: boolean): Side {
    const bytes = parts.map(({ type, count }) => type.size * count);
    if (parts.every(({ type, count }) => type.isContiguous(count))) {
      const starts = parts.map(({ address, type }) => address + type.trueLb);
      // Empty parts may lie anywhere, also before the first byte of memory.
      const first = Math.max(0, Math.min(...starts.filter((_, peer) => bytes[peer]! > 0), 2 ** 31));
      const offsets = starts.map((start, peer) => (bytes[peer] === 0 ? 0 : start - first));
      return new Side((first === 2 ** 31 ? 0 : first) as Pointer, 0, { bytes, offsets }, null);
    }
    let total = 0;
    const offsets = bytes.map((length) => {
      total += length;
      return total - length;
    });
    return Side.packed(program, parts, total, { bytes, offsets }, load);
  }

  /**
   * A side of `parts` equal parts, made again with parts of another length: what is too long is cut, what is missing is
   * zero. For callers whose own two sides do not match: the others expect parts of that length.
   */
  static refitted({ memory, bytes: all }: Program, side: Side, parts: number, from: number, to: number): Side {
    const pointer = memory.allocate(parts * to);
    all.fill(0, pointer, pointer + parts * to);
    for (let part = 0; part < parts; part++) {
      memory.copy(pointer, part * to, side.pointer, part * from, Math.min(from, to));
    }
    return new Side(pointer, parts * to, noBlocks, []);
  }

  private static packed(program: Program, parts: readonly Items[], bytes: number, blocks: Blocks, load: boolean): Side {
    const side = new Side(program.memory.allocate(bytes), bytes, blocks, parts);
    const memory = program.bytes;
    if (load) side.each(({ type, count, address }, at) => pack(type, count, memory, address, memory, at));
    return side;
  }

  /** The bytes have arrived: to where the program wants them. */
  deliver({ bytes: memory }: Program): void {
    this.each(({ type, count, address }, at) => unpack(type, count, memory, at, memory, address));
  }

  end({ memory }: Program): void {
    if (this.scattered !== null) memory.free(this.pointer);
  }

  private each(move: (items: Items, at: number) => void): void {
    let at: number = this.pointer;
    for (const items of this.scattered ?? []) {
      move(items, at);
      at += items.type.size * items.count;
    }
  }
}

const isList = (parts: Items | readonly Items[]): parts is readonly Items[] => Array.isArray(parts);

/** What is left to do after a collective: the result to its place, scratch memory back. */
export class Settle implements After {
  private readonly sent: Side;
  private readonly received: Side;

  constructor(sent: Side, received: Side) {
    this.sent = sent;
    this.received = received;
  }

  finish(program: Program, _bytes: number, error: number): void {
    // After a failure peers may still read from there: it stays. One that was truncated has run to its end.
    if (error !== ErrorClass.SUCCESS && error !== ErrorClass.TRUNCATE) return;
    this.received.deliver(program);
    this.sent.end(program);
    if (this.received !== this.sent) this.received.end(program);
  }
}

saves({ Side, Settle });
