/**
 * How a datatype was made, as C programs see it (MPI 5.0 §5.1.13). Core keeps the arguments of the call; here they are told
 * apart as the two forms of the query want them: what went into a `_c` constructor as an MPI_Count comes out as a large
 * count, and only of the `_c` form of the query.
 */
import { Datatype, type Envelope } from "../../core/comm/datatype/datatype.ts";
import { Combiner } from "../../core/comm/datatype/datatype-combiner.ts";
import { LB, UB } from "../../core/comm/datatype/datatype-predefined.ts";
import { type Program, TYPE_LB, TYPE_UB } from "../program.ts";

/** Types that were made by a `_c` constructor. */
const large = new WeakSet<Datatype>();

export function markLarge(core: Datatype): void {
  large.add(core);
}

/** Types of MPI_Type_create_f90_…: predefined, but without a name and a number of the standard's. */
export function isUnnamed({ envelope: { combiner } }: Datatype): boolean {
  return combiner === Combiner.F90_REAL || combiner === Combiner.F90_COMPLEX || combiner === Combiner.F90_INTEGER;
}

export interface Contents extends Envelope {
  readonly largeCounts: readonly number[];
}

export function largeContentsOf(core: Datatype): Contents {
  const { envelope } = core;
  const { combiner, integers, addresses } = envelope;
  if (!large.has(core)) return { ...envelope, largeCounts: [] };
  switch (combiner) {
    case Combiner.SUBARRAY:
      return { ...envelope, integers: [integers[0]!, integers.at(-1)!], largeCounts: integers.slice(1, -1) };
    case Combiner.DARRAY: {
      // Size, rank and number of dimensions, then the array's sizes.
      const end = 3 + integers[2]!;
      const rest = [...integers.slice(0, 3), ...integers.slice(end)];
      return { ...envelope, integers: rest, largeCounts: integers.slice(3, end) };
    }
    default:
      return { ...envelope, integers: [], addresses: [], largeCounts: [...integers, ...addresses] };
  }
}

/** A handle of a type inside another: predefined ones have their own, of others the program gets a new one to free. */
export function handleInside(program: Program, core: Datatype): number {
  if (core === LB) return TYPE_LB;
  if (core === UB) return TYPE_UB;
  if (core.isPredefined) return core.handle;
  if (isUnnamed(core)) return program.types.list().find((type) => type.core === core)!.handle;
  const copy = new Datatype(core.shape, core.envelope);
  if (large.has(core)) markLarge(copy);
  return program.addType(core.isCommitted ? copy.commit() : copy);
}
