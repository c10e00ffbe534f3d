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

/** From `source`, whose byte `sourceOffset` is the origin of the first item, to `target`: all of it, or a part. Returns the bytes packed. */
export function pack(
  type: Datatype,
  count: number,
  source: Uint8Array,
  sourceOffset: number,
  target: Uint8Array,
  targetOffset: number,
  part?: PackedPart,
): number {
  const items = { type, count, memory: source, origin: sourceOffset };
  return move("pack", items, { bytes: target, at: targetOffset }, part);
}

/** From packed bytes to `target`, whose byte `targetOffset` is the origin of the first item. Returns the bytes unpacked. */
export function unpack(
  type: Datatype,
  count: number,
  source: Uint8Array,
  sourceOffset: number,
  target: Uint8Array,
  targetOffset: number,
  part?: PackedPart,
): number {
  const items = { type, count, memory: target, origin: targetOffset };
  return move("unpack", items, { bytes: source, at: sourceOffset }, part);
}

interface Items {
  readonly type: Datatype;
  readonly count: number;
  readonly memory: Uint8Array;
  /** Byte of `memory` that is the origin of the first item. */
  readonly origin: number;
}

interface Packed {
  readonly bytes: Uint8Array;
  /** Position of the first byte to move. */
  readonly at: number;
}

function move(verb: "pack" | "unpack", items: Items, packed: Packed, part: PackedPart | undefined): number {
  const { type, count, memory, origin } = items;
  const from = part?.from ?? 0;
  const moved = movedBytes(type.size * count, part);
  if (moved <= 0) return 0;
  checkMemory(verb, items);
  checkPacked(verb, packed, moved);
  const transfer = new Transfer(memory, packed.bytes, packed.at, verb === "pack");
  transfer.copies(type.layout, count, type.extent, origin, from, from + moved);
  return moved;
}

function movedBytes(all: number, part: PackedPart | undefined): number {
  return part === undefined ? all : Math.min(part.bytes, all - part.from);
}

/** Checked here once, so that the copying below need not check: it uses views of the whole buffer. */
function checkMemory(verb: string, { type, count, memory, origin }: Items): void {
  const span = (count - 1) * type.extent;
  const low = origin + type.trueLb + Math.min(0, span);
  const high = origin + type.trueUb + Math.max(0, span);
  if (low >= 0 && high <= memory.length) return;
  throw new MpiError(
    ErrorClass.BUFFER,
    `Cannot ${verb} ${count} × ${type.name || "a datatype"} at byte ${origin}: it needs bytes ${low} to ${high} and the buffer has ${memory.length}`,
  );
}

export function checkPacked(verb: string, { bytes, at }: Packed, wanted: number): void {
  if (at >= 0 && at + wanted <= bytes.length) return;
  throw new MpiError(
    ErrorClass.TRUNCATE,
    `Cannot ${verb} ${wanted} bytes at position ${at}: the packed buffer has ${bytes.length} bytes`,
  );
}
