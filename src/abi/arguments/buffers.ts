/**
 * From what a C program hands over (address, count, datatype) to the packed bytes that messages and schedules move. Elements
 * that lie side by side are used where they are; others go through scratch memory, packed before, unpacked behind.
 *
 * Every buffer is checked here, by `bufferBytes`, before anything is done with it: all bytes that its datatype names lie in the
 * program's memory. Nothing behind this file looks again, and the memory never shrinks, so a persistent request is checked once.
 */
import type { Pointer } from "../../core/base/brand.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { checkCount, checkSize } from "../../core/binding/checks.ts";
import type { Datatype } from "../../core/comm/datatype/datatype.ts";
import { pack, unpack } from "../../core/comm/datatype/pack.ts";
import type { After } from "../handles/objects.ts";
import type { Program } from "../program.ts";

/** The program to which a buffer belongs: its memory, and its call that is running, for messages. */
export interface BufferOwner {
  readonly bytes: Uint8Array;
  readonly call: string;
}

/** The length of `count` items when packed. */
function packedBytes(type: Datatype, count: number): number {
  checkCount(count);
  const bytes = type.size * count;
  checkSize(bytes);
  return bytes;
}

/**
 * Addresses below are none: the null pointer and places a little behind it (MPI_BOTTOM with a datatype of small displacements, a
 * member of a structure that is not there), and the ABI's special values (MPI_IN_PLACE, MPI_UNWEIGHTED, …). Of a program only
 * the end of a stack that is all but overflowing lies there. The data plane has the same number.
 */
export const addressMin = 1024;

/** The length of a buffer when packed; throws unless all of the buffer lies in the program's memory. */
export function bufferBytes(program: BufferOwner, address: number, count: number, type: Datatype): number {
  const bytes = packedBytes(type, count);
  if (bytes === 0) return 0;
  const span = (count - 1) * type.extent;
  checkBytes(program, address + type.trueLb + Math.min(0, span), address + type.trueUb + Math.max(0, span));
  return bytes;
}

/** Bytes `low` to `high` of a buffer, whatever they mean. */
export function checkBytes(program: BufferOwner, low: number, high: number): void {
  if ((low >= addressMin && high <= program.bytes.length) || low >= high) return;
  throw new MpiError(ErrorClass.BUFFER, `Cannot call ${program.call}: ${outside(program, low, high)}`);
}

/** Two buffers of a call that must not be the same. Others notice no more than that, and neither do we. */
export function checkApart(program: Program, one: number, other: number): void {
  if (one !== other) return;
  const state = `both buffers begin at address ${one}`;
  throw new MpiError(ErrorClass.BUFFER, `Cannot call ${program.call}: ${state}; give two, or MPI_IN_PLACE`);
}

function outside({ bytes }: BufferOwner, low: number, high: number): string {
  if (low === 0) return "the buffer is a null pointer; give the address of the data, or a count of 0";
  const state = `the buffer has bytes ${low} to ${high}, and the memory of the program ${addressMin} to ${bytes.length}`;
  return `${state}; give an address, a count and a datatype that stay inside`;
}

/** Where packed bytes are: in the program's own buffer, or in scratch memory that must be given back. */
interface PackedPlace {
  readonly pointer: Pointer;
  readonly bytes: number;
  readonly scratch: boolean;
}

/** The first byte of items that lie side by side. What has no bytes may have any address, and then it is nowhere. */
export const startOf = (address: number, bytes: number, type: Datatype): Pointer =>
  (bytes === 0 ? 0 : address + type.trueLb) as Pointer;

export function packedFrom(program: Program, address: number, count: number, type: Datatype): PackedPlace {
  const bytes = bufferBytes(program, address, count, type);
  if (type.isContiguous(count)) return { pointer: startOf(address, bytes, type), bytes, scratch: false };
  const pointer = program.memory.allocate(bytes);
  pack({ type, count, bytes: program.bytes, offset: address }, { bytes: program.bytes, offset: pointer });
  return { pointer, bytes, scratch: true };
}

/** Packed bytes that are ours: the program may change its buffer. */
export function ownCopyOf(program: Program, address: number, count: number, type: Datatype): PackedPlace {
  const place = packedFrom(program, address, count, type);
  if (place.scratch) return place;
  const pointer = program.memory.allocate(place.bytes);
  program.memory.copy(pointer, 0, place.pointer, 0, place.bytes);
  return { ...place, pointer, scratch: true };
}

/** Room for what shall come; `After` of the request brings scratch memory to the buffer. */
export function roomFor(program: Program, address: number, count: number, type: Datatype): PackedPlace {
  const bytes = bufferBytes(program, address, count, type);
  if (type.isContiguous(count)) return { pointer: startOf(address, bytes, type), bytes, scratch: false };
  return { pointer: program.memory.allocate(bytes), bytes, scratch: true };
}

/** Scratch memory that was sent is given back. */
export class ReleaseScratch implements After {
  private readonly pointer: Pointer;
  private readonly next: After | null;

  constructor(pointer: Pointer, next: After | null = null) {
    this.pointer = pointer;
    this.next = next;
  }

  finish(program: Program, bytes: number, error: number): void {
    program.memory.free(this.pointer);
    this.next?.finish(program, bytes, error);
  }
}

/** Scratch memory that has been received into goes to where the program wants it. */
export class Unpack implements After {
  private readonly pointer: Pointer;
  private readonly address: number;
  private readonly count: number;
  private readonly type: Datatype;
  /** How many bytes came, where the request itself does not tell (collectives). */
  private readonly bytes: number | undefined;

  constructor(pointer: Pointer, address: number, count: number, type: Datatype, bytes?: number) {
    this.pointer = pointer;
    this.address = address;
    this.count = count;
    this.type = type;
    this.bytes = bytes;
  }

  finish(program: Program, bytes: number, error: number): void {
    const { memory, bytes: all } = program;
    const came = this.bytes ?? bytes;
    if (error === 0 || this.bytes === undefined) {
      unpack(
        { bytes: all, offset: this.pointer },
        { type: this.type, count: this.count, bytes: all, offset: this.address },
        { from: 0, bytes: came },
      );
    }
    memory.free(this.pointer);
  }
}

saves({ ReleaseScratch, Unpack });
