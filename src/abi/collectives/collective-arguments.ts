/** The arguments of C's collectives as core/binding reads them: addresses, counts and datatypes, checked. */

import { checkCount } from "../../core/binding/checks.ts";
import { bytesOf } from "../../core/binding/collective-side.ts";
import type { EqualItems, OwnBuffer, SharedSource } from "../../core/binding/movement-arguments.ts";
import type { CollectiveForm } from "../../core/process/collective-form.ts";
import { checkApart } from "../arguments/buffers.ts";
import type { CRequest } from "../handles/objects.ts";
import type { Program } from "../program.ts";
import { type CItems, itemsAt } from "./collective-sides.ts";

/** The ABI's MPI_IN_PLACE. */
export const MPI_IN_PLACE = 1;

/**
 * A collective that can be started, a persistent one again and again. It has read its arguments when it was made: the objects of
 * handles, arrays of counts. Plain data.
 */
export interface Start {
  begin(program: Program, request: CRequest, form: CollectiveForm): void;
}

/** Address, count and handle of the datatype, as the program gave them. */
export interface Given {
  readonly address: number;
  readonly count: number;
  readonly type: number;
}

/** A buffer of a v form: arrays of counts and displacements, in extents of the type. */
export interface GivenBlocks {
  readonly address: number;
  readonly counts: number;
  readonly displacements: number;
  readonly type: number;
}

/** A buffer of a w form: a type for every peer, displacements in bytes. */
export interface GivenParts extends Omit<GivenBlocks, "type"> {
  readonly types: number;
}

export const given = (address: number, count: number, type: number): Given => ({ address, count, type });
export const givenBlocks = (address: number, counts: number, displacements: number, type: number): GivenBlocks => ({
  address,
  counts,
  displacements,
  type,
});
export const givenParts = (address: number, counts: number, displacements: number, types: number): GivenParts => ({
  address,
  counts,
  displacements,
  types,
});

export function itemsOf(program: Program, { address, count, type }: Given): CItems {
  checkCount(count);
  return itemsAt(program, address, count, program.committed(type));
}

/** A buffer of this rank alone. */
export const ownBuffer = (program: Program, data: Given): OwnBuffer<CItems> => ({
  isInPlace: data.address === MPI_IN_PLACE,
  items: () => itemsOf(program, data),
});

interface Apart {
  /** Address of this rank's own buffer, which may be neither the whole buffer nor the rank's part of it. */
  readonly own?: { readonly address: number; readonly rank: number };
  /** Address of the other buffer of all peers. */
  readonly other?: number;
}

/** A buffer of all peers, which is apart from the other buffer of the call. */
export class CSharedBuffer implements SharedSource<CItems> {
  private readonly program: Program;
  private readonly data: Given | GivenBlocks | GivenParts;
  private readonly apart: Apart;

  constructor(program: Program, data: Given | GivenBlocks | GivenParts, apart: Apart = {}) {
    this.program = program;
    this.data = data;
    this.apart = apart;
  }

  get isInPlace(): boolean {
    return this.data.address === MPI_IN_PLACE;
  }

  equal(peers: number, ownBytes: number | null): EqualItems<CItems> {
    const { program } = this;
    const { address, count, type } = this.data as Given;
    checkCount(count);
    const items = itemsAt(program, address, count * peers, program.committed(type));
    const { own } = this.apart;
    if (own !== undefined && ownBytes !== null && ownBytes > 0) {
      checkApart(program, own.address, address);
      checkApart(program, own.address, address + own.rank * count * items.type.extent);
    }
    this.checkOther(bytesOf(items) > 0);
    return { items, bytes: peers === 0 ? 0 : bytesOf(items) / peers };
  }

  parts(peers: number, ownBytes: number | null): CItems[] {
    const parts = partsAt(this.program, this.data as GivenBlocks | GivenParts, peers);
    const { own } = this.apart;
    if (own !== undefined && ownBytes !== null && ownBytes > 0) {
      checkApart(this.program, own.address, parts[own.rank]!.address);
    }
    this.checkOther(parts.some((items) => bytesOf(items) > 0));
    return parts;
  }

  /** MPI_BOTTOM is no buffer. */
  private checkOther(hasBytes: boolean): void {
    const { other } = this.apart;
    const { address } = this.data;
    if (other !== undefined && hasBytes && address !== 0) checkApart(this.program, address, other);
  }
}

function partsAt(program: Program, data: GivenBlocks | GivenParts, peers: number): CItems[] {
  const { ints } = program;
  const { address } = data;
  const [counts, displacements] = [data.counts >> 2, data.displacements >> 2];
  if ("types" in data) {
    return Array.from({ length: peers }, (_, peer) => {
      const type = program.committed(ints[(data.types >> 2) + peer]!);
      return itemsAt(program, address + ints[displacements + peer]!, ints[counts + peer]!, type);
    });
  }
  const type = program.committed(data.type);
  return Array.from({ length: peers }, (_, peer) =>
    itemsAt(program, address + ints[displacements + peer]! * type.extent, ints[counts + peer]!, type),
  );
}
