/**
 * The inverse of `saveState`: fills a living process with the state of another one. Living objects keep their identity, so
 * objects that refer to them (a transport, an import) need not be changed; all others are made anew.
 */

import { type SavedClass, savedClassNamed, savedClassOf } from "../../core/base/saved-classes.ts";
import { ByteReader } from "./byte-reader.ts";
import { StateError } from "./state-error.ts";
import { type AnyTypedArray, isAnyTypedArray, type TypedArrayName, typedArrays, Value } from "./value-kinds.ts";

/** The objects of the outside world in this process, by name. */
type OutsideWorld = ReadonlyMap<string, unknown>;

/** Throws a `StateError` for any mistake in the bytes: they come from an unknown writer. */
export function restoreState(state: Uint8Array, root: object, world: OutsideWorld): void {
  const reader = new ByteReader(state);
  let restored: unknown;
  try {
    restored = new Restoring(reader, world).value(root);
  } catch (error) {
    // Invalid texts, numbers that are too large, values nested without end.
    const isNonsense = error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
    throw isNonsense ? new StateError(`Cannot read the process state: it makes no sense (${error.message})`) : error;
  }
  if (restored !== root || !reader.isAtEnd)
    throw new StateError("Cannot read the process state: it is of another process");
}

type Fields = Record<string, unknown>;

/** Read in place of an element that an array lacks. */
const hole = Symbol("hole");

class Restoring {
  readonly #reader: ByteReader;
  readonly #world: OutsideWorld;
  readonly #objects: object[] = [];

  constructor(reader: ByteReader, world: OutsideWorld) {
    this.#reader = reader;
    this.#world = world;
  }

  /** `own`: the living object's present value in this place. */
  value(own: unknown): unknown {
    const reader = this.#reader;
    const kind = reader.byte();
    switch (kind) {
      case Value.UNDEFINED:
        return undefined;
      case Value.HOLE:
        return hole;
      case Value.NULL:
        return null;
      case Value.TRUE:
        return true;
      case Value.FALSE:
        return false;
      case Value.INT:
        return reader.int();
      case Value.DOUBLE:
        return reader.double();
      case Value.BIGINT:
        return BigInt(reader.text());
      case Value.TEXT:
        return reader.text();
      case Value.AGAIN:
        return this.#again(reader.int(), own);
      case Value.WORLD:
        return this.#ofWorld(reader.text());
      case Value.OWN:
        return own;
      case Value.ARRAY:
        return this.#array(own);
      case Value.TYPED_ARRAY:
        return this.#typedArray(own);
      case Value.MAP:
        return this.#map(own);
      case Value.SET:
        return this.#set(own);
      case Value.PLAIN:
        return this.#fill(own instanceof Object && isPlain(own) ? (own as Fields) : {});
      case Value.INSTANCE:
        return this.#instance(own);
      default:
        throw new StateError(`Cannot read the process state: there is no kind ${kind} of values`);
    }
  }

  /** How many values follow; each takes at least a byte. */
  #count(): number {
    const count = this.#reader.int();
    if (count >= 0 && count <= this.#reader.bytesLeft) return count;
    throw new StateError("Cannot read the process state: it is cut short");
  }

  #again(number: number, own: unknown): object {
    const object = this.#objects[number];
    if (object === undefined) throw new StateError(`Cannot read the process state: it has no object ${number}`);
    // A field that refers to a living object may refer to one of another class in another version.
    const living = own instanceof Object ? savedClassOf(own) : undefined;
    if (living?.lives && Object.getPrototypeOf(object) !== living.prototype) throw otherFields(living.name);
    return object;
  }

  #ofWorld(name: string): unknown {
    if (this.#world.has(name)) return this.#world.get(name);
    throw new StateError(`Cannot restore the process: it needs "${name}", which this one does not have`);
  }

  #array(own: unknown): unknown[] {
    const array: unknown[] = Array.isArray(own) ? own : [];
    this.#objects.push(array);
    const before = array.slice();
    array.length = this.#count();
    for (let i = 0; i < array.length; i++) {
      const value = this.value(before[i]);
      if (value === hole) delete array[i];
      else array[i] = value;
    }
    return array;
  }

  #typedArray(own: unknown): AnyTypedArray {
    const name = this.#reader.text();
    const bytes = this.#reader.bytes();
    const type = typedArrays[name as TypedArrayName];
    if (type === undefined) throw new StateError(`Cannot read the process state: there is no ${name}`);
    const isFitting = own instanceof type && isAnyTypedArray(own) && own.byteLength === bytes.length;
    const array = isFitting ? own : new type(bytes.length / type.BYTES_PER_ELEMENT);
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(bytes);
    this.#objects.push(array);
    return array;
  }

  #map(own: unknown): Map<unknown, unknown> {
    const map = own instanceof Map ? own : new Map();
    this.#objects.push(map);
    map.clear();
    for (let left = this.#count(); left > 0; left--) {
      const key = this.value(undefined);
      map.set(key, this.value(undefined));
    }
    return map;
  }

  #set(own: unknown): Set<unknown> {
    const set = own instanceof Set ? own : new Set();
    this.#objects.push(set);
    set.clear();
    for (let left = this.#count(); left > 0; left--) set.add(this.value(undefined));
    return set;
  }

  #instance(own: unknown): object {
    const name = this.#reader.text();
    const saved = savedClassNamed(name);
    if (saved === undefined) throw new StateError(`Cannot restore the process: this Banyan has no ${name}`);
    if (!saved.lives) return this.#fill(this.#made(saved));
    if (own instanceof Object && Object.getPrototypeOf(own) === saved.prototype) {
      return this.#fillLiving(own as Fields, saved);
    }
    throw new StateError(`Cannot restore the process: it has no ${name} where the saved one had it`);
  }

  #made({ prototype, unsaved }: SavedClass): Fields {
    return Object.assign(Object.create(prototype) as Fields, unsaved);
  }

  /** Another version of the class has other fields: the object must not be restored half filled. */
  #fillLiving(object: Fields, { name, unsaved }: SavedClass): object {
    this.#objects.push(object);
    const left = new Set(Object.keys(object).filter((field) => !Object.hasOwn(unsaved, field)));
    for (let fields = this.#count(); fields > 0; fields--) {
      const field = this.#reader.text();
      if (!left.delete(field)) throw otherFields(name);
      object[field] = this.value(object[field]);
    }
    if (left.size > 0) throw otherFields(name);
    return object;
  }

  #fill(object: Fields): object {
    this.#objects.push(object);
    for (let left = this.#count(); left > 0; left--) {
      const field = this.#reader.text();
      if (field === "__proto__") throw new StateError("Cannot read the process state: no object has such a field");
      object[field] = this.value(Object.hasOwn(object, field) ? object[field] : undefined);
    }
    return object;
  }
}

const isPlain = (object: object): boolean => Object.getPrototypeOf(object) === Object.prototype;

const otherFields = (name: string): StateError =>
  new StateError(
    `Cannot restore the process: ${name} had other fields when it was saved; use the Banyan that saved it`,
  );
