/** What the arguments of C's collectives say, checked: roots, parts for each peer, MPI_IN_PLACE. */
import { PROC_NULL, ROOT } from "../core/base/constants.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { checkCount } from "./buffers.ts";
import type { CCommunicator, CRequest } from "./objects.ts";
import type { Program } from "./program.ts";
import { type Items, itemsAt } from "./side.ts";

/** The ABI's MPI_IN_PLACE. */
export const IN_PLACE = 1;

/**
 * A collective that can be started, a persistent one again and again. It has read its arguments when it was made: what the
 * handles stand for, arrays of counts. Plain data.
 */
export interface Start {
  /** `tag`: `onBoard` for blocking calls, its own for a persistent one, else undefined. */
  begin(program: Program, request: CRequest, tag: number | undefined): void;
}

/** Address, count and handle of the datatype, as the program gave them. */
export interface Given {
  readonly address: number;
  readonly count: number;
  readonly type: number;
}

/** Counts and displacements of a v form, arrays in the program's memory. */
export interface Layout {
  readonly counts: number;
  readonly displacements: number;
}

/** A buffer of a w form: a type of its own for every peer. */
export interface TypedLayout extends Layout {
  readonly address: number;
  readonly types: number;
}

/** Is this rank the root, and is the root one at all? */
export function isRoot(comm: CCommunicator, root: number): boolean {
  const { core } = comm;
  const isRank = root >= 0 && root < core.peers.size;
  if (core.isInter ? isRank || root === ROOT || root === PROC_NULL : isRank) {
    return core.isInter ? root === ROOT : root === core.rank;
  }
  const ranks = `communicator ${comm.label} has ranks 0 to ${core.peers.size - 1}`;
  throw new MpiError(ErrorClass.ROOT, `Cannot use root ${root}: ${ranks}`);
}

/** Is it MPI_IN_PLACE, where it may be? */
export function isInPlace({ core }: CCommunicator, address: number): boolean {
  if (address !== IN_PLACE) return false;
  if (!core.isInter) return true;
  throw new MpiError(ErrorClass.ARG, "Cannot use MPI_IN_PLACE: an inter-communicator has no rank's own part");
}

export function itemsOf(program: Program, { address, count, type }: Given): Items {
  checkCount(count);
  return itemsAt(program, address, count, program.committed(type));
}

/** As many items for each of `peers`, side by side. */
export function itemsForEach(program: Program, { address, count, type }: Given, peers: number): Items {
  checkCount(count);
  return itemsAt(program, address, count * peers, program.committed(type));
}

/** Parts of a v form: displacements are in extents of the type. */
export function partsOf(program: Program, { address, type }: Given, layout: Layout, peers: number): Items[] {
  const { ints } = program;
  const core = program.committed(type);
  return Array.from({ length: peers }, (_, peer) => {
    const count = ints[(layout.counts >> 2) + peer]!;
    return itemsAt(program, address + ints[(layout.displacements >> 2) + peer]! * core.extent, count, core);
  });
}

/** Parts of a w form: every peer has its own type, displacements are in bytes. */
export function typedPartsOf(program: Program, layout: TypedLayout, peers: number): Items[] {
  const { ints } = program;
  return Array.from({ length: peers }, (_, peer) => {
    const count = ints[(layout.counts >> 2) + peer]!;
    const type = program.committed(ints[(layout.types >> 2) + peer]!);
    return itemsAt(program, layout.address + ints[(layout.displacements >> 2) + peer]!, count, type);
  });
}
