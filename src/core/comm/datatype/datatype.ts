/**
 * A datatype: which bytes from an origin on belong to one item, which elements they are, how far apart items lie.
 *
 * The description never changes. Predefined types are shared by everything in this thread; what a program may change about
 * them (a name, attributes) is therefore kept by its process, not here. Sizes are exact up to 2^53.
 */
import { ErrorClass, MpiError } from "../../base/mpi-error.ts";
import { saves } from "../../base/saved-classes.ts";
import { Combiner } from "./datatype-combiner.ts";
import type { Element } from "./element.ts";
import type { Layout } from "./layout.ts";
import { boundsOf, type TypeShape } from "./shape.ts";
import type { Signature } from "./signature.ts";

/**
 * How a datatype was made: the combiner and the arguments of the call, in the order in which MPI_Type_get_contents returns
 * them. Counts of any size stand among the integers; a binding that must tell large counts apart (`num_large_counts`) does so
 * by the combiner.
 */
export interface Envelope {
  readonly combiner: Combiner;
  readonly integers: readonly number[];
  readonly addresses: readonly number[];
  readonly datatypes: readonly Datatype[];
}

export const namedEnvelope: Envelope = { combiner: Combiner.NAMED, integers: [], addresses: [], datatypes: [] };

interface Identity {
  readonly name: string;
  /** The ABI's number of a predefined type; 0 for all others. */
  readonly handle: number;
  /** The element that a basic type is; the two that a pair type (FLOAT_INT …) is; none in all other types. */
  readonly elements: readonly Element[];
}

const made: Identity = { name: "", handle: 0, elements: [] };

export class Datatype {
  name: string;
  readonly handle: number;
  readonly elements: readonly Element[];
  readonly shape: TypeShape;
  readonly envelope: Envelope;
  /** Bytes of data in one item. */
  readonly size: number;
  readonly lb: number;
  readonly ub: number;
  /** From one item to the next. */
  readonly extent: number;
  /** Changed by `commit` alone. */
  isCommitted: boolean;

  constructor(shape: TypeShape, envelope: Envelope = namedEnvelope, identity: Identity = made) {
    const { lb, ub } = boundsOf(shape);
    this.name = identity.name;
    this.handle = identity.handle;
    this.elements = identity.elements;
    this.shape = shape;
    this.envelope = envelope;
    this.size = shape.layout.bytes;
    this.lb = lb;
    this.ub = ub;
    this.extent = ub - lb;
    this.isCommitted = identity !== made;
    for (const value of [this.size, lb, ub, this.trueLb, this.trueUb]) {
      if (!Number.isSafeInteger(value)) {
        throw new MpiError(
          ErrorClass.VALUE_TOO_LARGE,
          `Cannot make the datatype: it spans ${value} bytes and may span 2^53`,
        );
      }
    }
  }

  get layout(): Layout {
    return this.shape.layout;
  }
  get signature(): Signature {
    return this.shape.signature;
  }
  get trueLb(): number {
    return this.shape.layout.low;
  }
  get trueUb(): number {
    return this.shape.layout.high;
  }
  get trueExtent(): number {
    return this.trueUb - this.trueLb;
  }
  get isPredefined(): boolean {
    return this.envelope.combiner === Combiner.NAMED;
  }

  commit(): this {
    this.isCommitted = true;
    return this;
  }

  /** Are `count` items one piece of memory, which begins at `trueLb` and is in packing order? */
  isContiguous(count: number): boolean {
    const layout = this.shape.layout;
    return layout.kind === "run" && (count <= 1 || layout.bytes === this.extent || layout.bytes === 0);
  }
}

saves({ Datatype });

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
