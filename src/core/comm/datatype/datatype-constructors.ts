/**
 * The constructors of MPI 5.0 §5.1.2, each a few words in the algebra of shapes. Displacements and strides of plain
 * constructors are in extents of the old type, those of the `h…` constructors and of `struct` in bytes. Arrays:
 * datatype-arrays.ts.
 */
import { ErrorClass, MpiError } from "../../base/mpi-error.ts";
import { Datatype } from "./datatype.ts";
import { Combiner } from "./datatype-combiner.ts";
import { boundShape, joinShapes, repeatShape, shiftShape, type TypeShape } from "./shape.ts";

export interface Strided {
  readonly count: number;
  readonly blocklength: number;
  readonly stride: number;
}
export interface Indexed {
  readonly blocklengths: readonly number[];
  readonly displacements: readonly number[];
}
export interface IndexedBlock {
  readonly blocklength: number;
  readonly displacements: readonly number[];
}
export interface Structure extends Indexed {
  readonly types: readonly Datatype[];
}

export function dup(type: Datatype): Datatype {
  const copy = new Datatype(type.shape, { combiner: Combiner.DUP, integers: [], addresses: [], datatypes: [type] });
  return type.isCommitted ? copy.commit() : copy;
}

export function contiguous(count: number, type: Datatype): Datatype {
  checkWholeNumber("count", count);
  return new Datatype(repeatShape(type.shape, count, type.extent), {
    combiner: Combiner.CONTIGUOUS,
    integers: [count],
    addresses: [],
    datatypes: [type],
  });
}

export function vector(type: Datatype, { count, blocklength, stride }: Strided): Datatype {
  return new Datatype(strided(type, { count, blocklength, stride: stride * type.extent }), {
    combiner: Combiner.VECTOR,
    integers: [count, blocklength, stride],
    addresses: [],
    datatypes: [type],
  });
}

export function hvector(type: Datatype, { count, blocklength, stride }: Strided): Datatype {
  return new Datatype(strided(type, { count, blocklength, stride }), {
    combiner: Combiner.HVECTOR,
    integers: [count, blocklength],
    addresses: [stride],
    datatypes: [type],
  });
}

export function indexed(type: Datatype, { blocklengths, displacements }: Indexed): Datatype {
  return new Datatype(scattered(type, blocklengths, displacements, type.extent), {
    combiner: Combiner.INDEXED,
    integers: [blocklengths.length, ...blocklengths, ...displacements],
    addresses: [],
    datatypes: [type],
  });
}

export function hindexed(type: Datatype, { blocklengths, displacements }: Indexed): Datatype {
  return new Datatype(scattered(type, blocklengths, displacements, 1), {
    combiner: Combiner.HINDEXED,
    integers: [blocklengths.length, ...blocklengths],
    addresses: [...displacements],
    datatypes: [type],
  });
}

export function indexedBlock(type: Datatype, { blocklength, displacements }: IndexedBlock): Datatype {
  const blocklengths = displacements.map(() => blocklength);
  return new Datatype(scattered(type, blocklengths, displacements, type.extent), {
    combiner: Combiner.INDEXED_BLOCK,
    integers: [displacements.length, blocklength, ...displacements],
    addresses: [],
    datatypes: [type],
  });
}

export function hindexedBlock(type: Datatype, { blocklength, displacements }: IndexedBlock): Datatype {
  const blocklengths = displacements.map(() => blocklength);
  return new Datatype(scattered(type, blocklengths, displacements, 1), {
    combiner: Combiner.HINDEXED_BLOCK,
    integers: [displacements.length, blocklength],
    addresses: [...displacements],
    datatypes: [type],
  });
}

export function struct({ blocklengths, displacements, types }: Structure): Datatype {
  checkLengths(blocklengths, displacements);
  if (types.length !== blocklengths.length) {
    throw new MpiError(
      ErrorClass.ARG,
      `Cannot make the datatype: there are ${types.length} types for ${blocklengths.length} blocks and must be as many`,
    );
  }
  const parts = types.map((type, i) => {
    checkWholeNumber("blocklength", blocklengths[i]!);
    return shiftShape(repeatShape(type.shape, blocklengths[i]!, type.extent), displacements[i]!);
  });
  return new Datatype(joinShapes(parts), {
    combiner: Combiner.STRUCT,
    integers: [blocklengths.length, ...blocklengths],
    addresses: [...displacements],
    datatypes: [...types],
  });
}

export function resized(type: Datatype, { lb, extent }: { readonly lb: number; readonly extent: number }): Datatype {
  return new Datatype(boundShape(type.shape, lb, lb + extent), {
    combiner: Combiner.RESIZED,
    integers: [],
    addresses: [lb, extent],
    datatypes: [type],
  });
}

function strided(type: Datatype, { count, blocklength, stride }: Strided): TypeShape {
  checkWholeNumber("count", count);
  checkWholeNumber("blocklength", blocklength);
  return repeatShape(repeatShape(type.shape, blocklength, type.extent), count, stride);
}

/** Blocks at displacements in units of `unit` bytes. Neighbours of one length share the shape of their block. */
function scattered(
  type: Datatype,
  blocklengths: readonly number[],
  displacements: readonly number[],
  unit: number,
): TypeShape {
  checkLengths(blocklengths, displacements);
  let [length, block] = [1, type.shape];
  const parts = displacements.map((displacement, i) => {
    const blocklength = blocklengths[i]!;
    if (blocklength !== length) {
      checkWholeNumber("blocklength", blocklength);
      [length, block] = [blocklength, repeatShape(type.shape, blocklength, type.extent)];
    }
    return shiftShape(block, displacement * unit);
  });
  // Blocks without items are left out: their displacements do not count.
  return joinShapes(blocklengths.includes(0) ? parts.filter((_, i) => blocklengths[i] !== 0) : parts);
}

export function checkWholeNumber(what: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 0) return;
  const code = what === "count" ? ErrorClass.COUNT : ErrorClass.ARG;
  throw new MpiError(code, `Cannot make the datatype: its ${what} is ${value} and must be a whole number, 0 or more`);
}

function checkLengths(blocklengths: readonly number[], displacements: readonly number[]): void {
  if (blocklengths.length === displacements.length) return;
  throw new MpiError(
    ErrorClass.ARG,
    `Cannot make the datatype: there are ${displacements.length} displacements for ${blocklengths.length} blocks and must be as many`,
  );
}
