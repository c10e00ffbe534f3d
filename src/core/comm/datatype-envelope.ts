/**
 * How a datatype was made (MPI 5.0 §5.1.13): the combiner and the arguments of the call, in the order in which
 * MPI_Type_get_contents gives them back. Counts of any size stand among the integers; a binding that must tell the large
 * ones apart (`num_large_counts`) does so by the combiner.
 */
import { ErrorClass, MpiError } from "../base/mpi-error.ts";
import type { Datatype } from "./datatype.ts";

export const Combiner = {
  NAMED: 101,
  DUP: 102,
  CONTIGUOUS: 103,
  VECTOR: 104,
  HVECTOR: 105,
  INDEXED: 106,
  HINDEXED: 107,
  INDEXED_BLOCK: 108,
  HINDEXED_BLOCK: 109,
  STRUCT: 110,
  SUBARRAY: 111,
  DARRAY: 112,
  F90_REAL: 113,
  F90_COMPLEX: 114,
  F90_INTEGER: 115,
  RESIZED: 116,
  VALUE_INDEX: 117,
} as const;
export type Combiner = (typeof Combiner)[keyof typeof Combiner];

export interface Envelope {
  readonly combiner: Combiner;
  readonly integers: readonly number[];
  readonly addresses: readonly number[];
  readonly datatypes: readonly Datatype[];
}

export const namedEnvelope: Envelope = { combiner: Combiner.NAMED, integers: [], addresses: [], datatypes: [] };

/** The arguments of the call that made the type. A predefined type was not made by a call. */
export function contentsOf(type: Datatype): Envelope {
  if (type.envelope.combiner === Combiner.NAMED) {
    throw new MpiError(
      ErrorClass.TYPE,
      `Cannot get the contents of ${type.name}: it is predefined, only made types have contents`,
    );
  }
  return type.envelope;
}
