/**
 * Packing: the bytes of `count` items from the places that their datatype gives them to one contiguous piece, and back (MPI 5.0
 * §5.2).
 *
 * Packed bytes are the bytes of the memory in packing order: every process of a job has the same byte order, so there is no
 * header and no conversion. For other machines there is pack-external.ts.
 */
import { ErrorClass, MpiError } from "../../base/mpi-error.ts";
import type { Datatype } from "./datatype.ts";
import { Transfer } from "./transfer.ts";

/** A part of the packed stream: `bytes` bytes, or fewer at its end, that begin at its byte `from`. */
interface PackedPart {
  readonly from: number;
  readonly bytes: number;
}

export function packSize(type: Datatype, count: number): number {
  return type.size * count;
}

/** `count` items of `type` in `bytes`, the origin of the first at byte `offset`. */
export interface ItemsInMemory {
  readonly type: Datatype;
  readonly count: number;
  readonly bytes: Uint8Array;
  readonly offset: number;
}

/** Packed bytes, the first of them at byte `offset`. */
export interface PackedAt {
  readonly bytes: Uint8Array;
  readonly offset: number;
}

/** All of the items, or a part of them. Returns the bytes packed. */
export function pack(items: ItemsInMemory, packed: PackedAt, part?: PackedPart): number {
  return move("pack", items, packed, part);
}

/** Returns the bytes unpacked. */
export function unpack(packed: PackedAt, items: ItemsInMemory, part?: PackedPart): number {
  return move("unpack", items, packed, part);
}

function move(verb: "pack" | "unpack", items: ItemsInMemory, packed: PackedAt, part: PackedPart | undefined): number {
  const { type, count, bytes: memory, offset: origin } = items;
  const from = part?.from ?? 0;
  const moved = movedBytes(type.size * count, part);
  if (moved <= 0) return 0;
  checkMemory(verb, items);
  checkPacked(verb, packed, moved);
  const transfer = new Transfer(memory, packed.bytes, packed.offset, verb === "pack");
  transfer.copies(type.layout, count, type.extent, origin, from, from + moved);
  return moved;
}

function movedBytes(all: number, part: PackedPart | undefined): number {
  return part === undefined ? all : Math.min(part.bytes, all - part.from);
}

/** Checked here once, so that the copying below need not check: it uses views of the whole buffer. */
function checkMemory(verb: string, { type, count, bytes, offset }: ItemsInMemory): void {
  const span = (count - 1) * type.extent;
  const low = offset + type.trueLb + Math.min(0, span);
  const high = offset + type.trueUb + Math.max(0, span);
  if (low >= 0 && high <= bytes.length) return;
  throw new MpiError(
    ErrorClass.BUFFER,
    `Cannot ${verb} ${count} × ${type.name || "a datatype"} at byte ${offset}: it needs bytes ${low} to ${high} and the buffer has ${bytes.length}`,
  );
}

export function checkPacked(verb: string, { bytes, offset }: PackedAt, wanted: number): void {
  if (offset >= 0 && offset + wanted <= bytes.length) return;
  throw new MpiError(
    ErrorClass.TRUNCATE,
    `Cannot ${verb} ${wanted} bytes at position ${offset}: the packed buffer has ${bytes.length} bytes`,
  );
}
