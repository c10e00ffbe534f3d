/**
 * Datatypes as programs make and use them (MPI 5.0 chapter 5): `mpi.types`. The type comes first, then the options:
 *
 *     const column = mpi.types.vector(mpi.DOUBLE, { count: rows, blocklength: 1, stride: columns }).commit();
 *     world.send({ data: matrix, type: column, count: 1, offset: 8 * j }, { dest: 1 });
 *
 * Size, bounds and name are fields of a type: `size`, `lb`, `extent`, `trueLb`, `trueExtent`, `name`.
 */
import { ORDER_C } from "../core/base/constants.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { contentsOf, type Datatype, type Envelope } from "../core/comm/datatype/datatype.ts";
import { type Darray, darray, type Subarray, subarray } from "../core/comm/datatype/datatype-arrays.ts";
import * as make from "../core/comm/datatype/datatype-constructors.ts";
import { predefinedTypes } from "../core/comm/datatype/datatype-predefined.ts";
import { pack, packSize, unpack } from "../core/comm/datatype/pack.ts";
import { packExternal, packExternalSize, unpackExternal } from "../core/comm/datatype/pack-external.ts";
import type { BufferLike } from "./buffers.ts";
import { elementsOf } from "./collective-sides.ts";
import type { Environment } from "./environment.ts";
import { Attributes, type Keyval } from "./keyvals.ts";

type Optional<T, K extends keyof T> = Omit<T, K> & Partial<Pick<T, K>>;

export class Datatypes {
  readonly #environment: Environment;
  /** Types are shared by all ranks of a thread, attributes are not: they hang here. */
  readonly #attributes = new WeakMap<Datatype, Attributes<Datatype>>();
  readonly #freed = new WeakSet<Datatype>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  // Constructors: displacements and strides in elements of the old type, those of the h forms and of struct in bytes

  /** A copy; attributes are copied as their keyvals say. */
  dup(type: Datatype): Datatype {
    return this.#guard(() => {
      const copy = make.dup(type);
      const attributes = this.#attributes.get(type)?.dup();
      if (attributes !== undefined) {
        this.#attributes.set(copy, new Attributes(copy, "datatype", this.#environment.keyvals, attributes));
      }
      return copy;
    });
  }

  contiguous(type: Datatype, count: number): Datatype {
    return this.#guard(() => make.contiguous(count, type));
  }

  vector(type: Datatype, shape: make.Strided): Datatype {
    return this.#guard(() => make.vector(type, shape));
  }

  hvector(type: Datatype, shape: make.Strided): Datatype {
    return this.#guard(() => make.hvector(type, shape));
  }

  indexed(type: Datatype, shape: make.Indexed): Datatype {
    return this.#guard(() => make.indexed(type, shape));
  }

  hindexed(type: Datatype, shape: make.Indexed): Datatype {
    return this.#guard(() => make.hindexed(type, shape));
  }

  indexedBlock(type: Datatype, shape: make.IndexedBlock): Datatype {
    return this.#guard(() => make.indexedBlock(type, shape));
  }

  hindexedBlock(type: Datatype, shape: make.IndexedBlock): Datatype {
    return this.#guard(() => make.hindexedBlock(type, shape));
  }

  struct(shape: make.Structure): Datatype {
    return this.#guard(() => make.struct(shape));
  }

  /** A box in a larger array; `order` is ORDER_C unless given. */
  subarray(type: Datatype, { order = ORDER_C, ...box }: Optional<Subarray, "order">): Datatype {
    return this.#guard(() => subarray(type, { ...box, order }));
  }

  /** One process's part of a distributed array; `order` is ORDER_C unless given. */
  darray(type: Datatype, { order = ORDER_C, ...array }: Optional<Darray, "order">): Datatype {
    return this.#guard(() => darray(type, { ...array, order }));
  }

  resized(type: Datatype, bounds: { readonly lb: number; readonly extent: number }): Datatype {
    return this.#guard(() => make.resized(type, bounds));
  }

  /** The predefined type of that kind and size. */
  match(kind: "integer" | "real" | "complex", bytes: number): Datatype {
    const { INTEGER1, INTEGER2, INTEGER4, INTEGER8, REAL2, REAL4, REAL8, REAL16 } = predefinedTypes;
    const { COMPLEX4, COMPLEX8, COMPLEX16, COMPLEX32 } = predefinedTypes;
    const types = {
      integer: [INTEGER1, INTEGER2, INTEGER4, INTEGER8],
      real: [REAL2, REAL4, REAL8, REAL16],
      complex: [COMPLEX4, COMPLEX8, COMPLEX16, COMPLEX32],
    };
    return this.#guard(() => {
      const found = types[kind]?.find((type) => type.size === bytes);
      if (found !== undefined) return found;
      throw new MpiError(ErrorClass.ARG, `Cannot find a datatype: there is no ${kind} of ${bytes} bytes`);
    });
  }

  /** The program will not use the type again: its attributes go. Types and messages made of it go on. */
  free(type: Datatype): void {
    this.#guard(() => {
      if (type.isPredefined) throw new MpiError(ErrorClass.TYPE, `Cannot free ${type.name}: it is predefined`);
      if (this.#freed.has(type)) throw new MpiError(ErrorClass.TYPE, "Cannot free the datatype: it has been freed");
      this.#attributes.get(type)?.clear();
      this.#freed.add(type);
    });
  }

  // How a type was made

  /** The combiner and the arguments of the call that made it, in the order of MPI_Type_get_contents. */
  envelope(type: Datatype): Envelope {
    return type.envelope;
  }

  /** As `envelope`; a predefined type has no contents, which is an error. */
  contents(type: Datatype): Envelope {
    return this.#guard(() => contentsOf(type));
  }

  // Attributes

  getAttribute(type: Datatype, keyval: Keyval): unknown {
    return this.#guard(() => this.#attributesOf(type).get(keyval));
  }

  setAttribute(type: Datatype, keyval: Keyval, value: unknown): void {
    this.#guard(() => this.#attributesOf(type).set(keyval, value));
  }

  deleteAttribute(type: Datatype, keyval: Keyval): void {
    this.#guard(() => this.#attributesOf(type).delete(keyval));
  }

  #attributesOf(type: Datatype): Attributes<Datatype> {
    const known = this.#attributes.get(type);
    if (known !== undefined) return known;
    const attributes = new Attributes(type, "datatype" as const, this.#environment.keyvals);
    this.#attributes.set(type, attributes);
    return attributes;
  }

  // Packing

  /** Bytes that `count` elements take when packed. */
  packSize(type: Datatype, count: number): number {
    return packSize(type, count);
  }

  /** Packs the elements into `into` from byte `position` on; returns where the next ones go. */
  pack(buffer: BufferLike, into: Uint8Array, position = 0): number {
    return this.#guard(() => position + pack(elementsOf(buffer), { bytes: into, offset: position }));
  }

  /** Fills the buffer from packed bytes; returns where the next ones are. */
  unpack(from: Uint8Array, buffer: BufferLike, position = 0): number {
    return this.#guard(() => position + unpack({ bytes: from, offset: position }, elementsOf(buffer)));
  }

  /** As `packSize`, in external32: big endian, for other machines. */
  packExternalSize(type: Datatype, count: number): number {
    return packExternalSize(type, count);
  }

  packExternal(buffer: BufferLike, into: Uint8Array, position = 0): number {
    return this.#guard(() => position + packExternal(elementsOf(buffer), { bytes: into, offset: position }));
  }

  unpackExternal(from: Uint8Array, buffer: BufferLike, position = 0): number {
    return this.#guard(() => position + unpackExternal({ bytes: from, offset: position }, elementsOf(buffer)));
  }

  #guard<T>(call: () => T): T {
    return this.#environment.guard(call);
  }
}
