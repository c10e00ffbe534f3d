/** What the arguments of C's collectives say, checked: roots, parts for each peer, MPI_IN_PLACE. */
import { checkCount, checkInPlace, isRoot as isRootOf } from "../../core/binding/checks.ts";
import type { CCommunicator, CRequest } from "../handles/objects.ts";
import type { Program } from "../program.ts";
import { type CItems, itemsAt } from "./collective-sides.ts";

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

/** What a collective does, in messages about its arguments: which one it is the caller knows. */
const verb = "take part";

/** Is this rank the root, and is the root one at all? */
export const isRoot = (comm: CCommunicator, root: number): boolean => isRootOf(comm, verb, root);

/** Is it MPI_IN_PLACE, where it may be? */
export function isInPlace(comm: CCommunicator, address: number): boolean {
  if (address !== IN_PLACE) return false;
  checkInPlace(comm, verb);
  return true;
}

export function itemsOf(program: Program, { address, count, type }: Given): CItems {
  checkCount(count);
  return itemsAt(program, address, count, program.committed(type));
}

/** As many items for each of `peers`, side by side. */
export function itemsForEach(program: Program, { address, count, type }: Given, peers: number): CItems {
  checkCount(count);
  return itemsAt(program, address, count * peers, program.committed(type));
}

/** Parts of a v form: displacements are in extents of the type. */
export function partsOf(program: Program, { address, type }: Given, layout: Layout, peers: number): CItems[] {
  const { ints } = program;
  const core = program.committed(type);
  return Array.from({ length: peers }, (_, peer) => {
    const count = ints[(layout.counts >> 2) + peer]!;
    return itemsAt(program, address + ints[(layout.displacements >> 2) + peer]! * core.extent, count, core);
  });
}

/** Parts of a w form: every peer has its own type, displacements are in bytes. */
export function typedPartsOf(program: Program, layout: TypedLayout, peers: number): CItems[] {
  const { ints } = program;
  return Array.from({ length: peers }, (_, peer) => {
    const count = ints[(layout.counts >> 2) + peer]!;
    const type = program.committed(ints[(layout.types >> 2) + peer]!);
    return itemsAt(program, layout.address + ints[(layout.displacements >> 2) + peer]!, count, type);
  });
}
