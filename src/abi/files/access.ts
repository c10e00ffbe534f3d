/** One access of one process to a file: from the program's memory through the view to the disk, or back. */
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import type { Datatype } from "../../core/comm/datatype/datatype.ts";
import { pack, unpack } from "../../core/comm/datatype/pack.ts";
import { packExternal, unpackExternal } from "../../core/comm/datatype/pack-external.ts";
import { bufferBytes } from "../arguments/buffers.ts";
import type { CFile } from "./file.ts";
import type { FileUserWithMemory } from "./file-user.ts";
import { Mode } from "./mode.ts";
import { diskOf } from "./program-files.ts";
import { keepsSizes } from "./set-view.ts";
import { advanceShared, locked } from "./shared-pointer.ts";
import { type Move, readView, writeView } from "./view-transfer.ts";

/** What is read to, or written from. Plain data. */
export interface Access {
  readonly kind: "read" | "write";
  readonly address: number;
  readonly count: number;
  readonly type: Datatype;
}

/** Scattered elements are gathered that many bytes at a time. */
const pieceBytesMax = 4 << 20;

/** How many etypes it is about. Refuses what the file cannot do. */
export function etypesOf(program: FileUserWithMemory, file: CFile, access: Access): number {
  const { kind, address, count, type } = access;
  const { etype, filetype, representation } = file.view;
  if (kind === "read" && file.is(Mode.WRONLY))
    refuse(ErrorClass.ACCESS, file, "read", "it is open with MPI_MODE_WRONLY");
  if (kind === "write" && file.is(Mode.RDONLY)) {
    refuse(ErrorClass.READ_ONLY, file, "write", "it is open with MPI_MODE_RDONLY");
  }
  const bytes = bufferBytes(program, address, count, type);
  if (bytes % etype.size !== 0) {
    refuse(ErrorClass.IO, file, kind, `${bytes} bytes are no whole number of etypes, which have ${etype.size}`);
  }
  if (bytes > 0 && filetype.size === 0) refuse(ErrorClass.IO, file, kind, "its view shows nothing");
  if (representation === "external32" && !keepsSizes(type)) {
    refuse(ErrorClass.UNSUPPORTED_DATAREP, file, kind, "the datatype has elements of another size in external32");
  }
  return bytes / etype.size;
}

function refuse(errorClass: number, { title }: CFile, kind: string, why: string): never {
  throw new MpiError(errorClass, `Cannot ${kind} ${title}: ${why}`);
}

/** Moves it, from etype `start` of the view on. How many bytes there were: fewer than wanted where the file ends. */
export function moveData(program: FileUserWithMemory, file: CFile, access: Access, start: number): number {
  const end = (start + etypesOf(program, file, access)) * file.view.etype.size;
  if (start < 0) refuse(ErrorClass.ARG, file, access.kind, `offset ${start} is before its beginning`);
  if (!Number.isSafeInteger(end)) refuse(ErrorClass.ARG, file, access.kind, `offset ${start} is beyond 2^53 bytes`);
  const { representation } = file.view;
  const move = representation === "external32" ? moveExternal : moveNative;
  // A member that only reads disturbs no other one, and all of them opened the file the same way.
  const mustLock = file.isAtomic && !file.is(Mode.RDONLY);
  return mustLock
    ? locked(program, file, () => move(program, file, access, start))
    : move(program, file, access, start);
}

/** Moves data at the individual pointer, which goes on by whole etypes that were moved. */
export function moveAtPointer(program: FileUserWithMemory, file: CFile, access: Access): number {
  const bytes = moveData(program, file, access, file.position);
  file.position += Math.floor(bytes / file.view.etype.size);
  return bytes;
}

/** Moves data at the shared pointer, which goes on by the etypes that are wanted: how many there are is known too late. */
export function moveAtShared(program: FileUserWithMemory, file: CFile, access: Access): number {
  const start = advanceShared(program, file, etypesOf(program, file, access));
  return moveData(program, file, access, start);
}

function moveNative(program: FileUserWithMemory, file: CFile, access: Access, start: number): number {
  const { bytes: memory } = program;
  const { kind, address, count, type } = access;
  const all = type.size * count;
  const through = throughView(program, file, kind);
  const from = start * file.view.etype.size;
  if (type.isContiguous(count)) {
    const at = address + type.trueLb;
    return through(memory.subarray(at, at + all), from);
  }
  const items = { type, count, bytes: memory, offset: address };
  const piece = new Uint8Array(Math.min(all, pieceBytesMax));
  let done = 0;
  while (done < all) {
    const part = piece.subarray(0, Math.min(piece.length, all - done));
    if (kind === "write") pack(items, { bytes: part, offset: 0 }, { from: done, bytes: part.length });
    const moved = through(part, from + done);
    if (kind === "read") unpack({ bytes: part, offset: 0 }, items, { from: done, bytes: moved });
    done += moved;
    if (moved < part.length) break;
  }
  return done;
}

/** Only whole items are converted. */
function moveExternal(program: FileUserWithMemory, file: CFile, access: Access, start: number): number {
  const { bytes } = program;
  const { kind, address, count, type } = access;
  const items = { type, count, bytes, offset: address };
  const external = { bytes: new Uint8Array(type.size * count), offset: 0 };
  if (kind === "write") packExternal(items, external);
  const moved = throughView(program, file, kind)(external.bytes, start * file.view.etype.size);
  if (kind === "write" || type.size === 0) return moved;
  const whole = Math.floor(moved / type.size);
  unpackExternal(external, { ...items, count: whole });
  return whole * type.size;
}

/** Moves bytes to or from a place in the view's stream. */
function throughView(program: FileUserWithMemory, { descriptor, view }: CFile, kind: "read" | "write"): Move {
  const disk = diskOf(program);
  return kind === "read"
    ? (bytes, from) => readView(view, from, bytes, (part, at) => disk.read(descriptor, part, at))
    : (bytes, from) => writeView(view, from, bytes, (part, at) => disk.write(descriptor, part, at));
}
