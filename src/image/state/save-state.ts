/**
 * The state of a process as bytes: everything that can be reached from its root object, each object once, by class and field
 * (saved-classes.ts). Objects of the outside world are written as names.
 */

import { assert } from "../../core/base/assert.ts";
import { savedClassOf } from "../../core/base/saved-classes.ts";
import { ByteWriter } from "./byte-writer.ts";
import { StateError } from "./state-error.ts";
import { type AnyTypedArray, isAnyTypedArray, Value } from "./value-kinds.ts";

/** Objects of the outside world, and their names. */
type WorldNames = ReadonlyMap<object, string>;

export function saveState(root: object, world: WorldNames): Uint8Array {
  const saving = new Saving(world);
  saving.value(root, true);
  return saving.writer.done();
}

class Saving {
  readonly writer = new ByteWriter();
  readonly #world: WorldNames;
  readonly #numbers = new Map<object, number>();
  /** The path to the current value, for errors. */
  readonly #path: (string | number)[] = ["the process"];

  constructor(world: WorldNames) {
    this.#world = world;
  }

  /** `isOfLiving`: the object that has this value exists in a restored process already. */
  value(value: unknown, isOfLiving: boolean): void {
    switch (typeof value) {
      case "undefined":
        this.writer.byte(Value.UNDEFINED);
        break;
      case "boolean":
        this.writer.byte(value ? Value.TRUE : Value.FALSE);
        break;
      case "number":
        this.#number(value);
        break;
      case "bigint":
        this.#text(Value.BIGINT, value.toString());
        break;
      case "string":
        this.#text(Value.TEXT, value);
        break;
      case "object":
        if (value === null) this.writer.byte(Value.NULL);
        else this.#object(value, isOfLiving);
        break;
      case "function":
        if (!this.#isWorld(value)) this.#own(isOfLiving, "a function");
        break;
      default:
        throw this.#unsavable(`a ${typeof value}`);
    }
  }

  #text(kind: number, text: string): void {
    this.writer.byte(kind);
    this.writer.text(text);
  }

  /** A value that only a living object can keep. */
  #own(isOfLiving: boolean, what: string): void {
    if (!isOfLiving) throw this.#unsavable(what);
    this.writer.byte(Value.OWN);
  }

  #number(value: number): void {
    const { writer } = this;
    // Doubled for its sign, a whole number must still be exact.
    if (Number.isInteger(value) && Math.abs(value) < 2 ** 52 && !Object.is(value, -0)) {
      writer.byte(Value.INT);
      writer.int(value);
    } else {
      writer.byte(Value.DOUBLE);
      writer.double(value);
    }
  }

  #isWorld(object: object): boolean {
    const name = this.#world.get(object);
    if (name === undefined) return false;
    this.writer.byte(Value.WORLD);
    this.writer.name(name);
    return true;
  }

  #object(object: object, isOfLiving: boolean): void {
    const { writer } = this;
    if (this.#isWorld(object)) return;
    const known = this.#numbers.get(object);
    if (known !== undefined) {
      writer.byte(Value.AGAIN);
      writer.int(known);
      return;
    }
    if (isAnyTypedArray(object) && object.buffer instanceof SharedArrayBuffer) {
      this.#own(isOfLiving, "a view of shared memory");
      return;
    }
    this.#numbers.set(object, this.#numbers.size);
    if (isAnyTypedArray(object)) this.#typedArray(object);
    else if (Array.isArray(object)) this.#array(object, isOfLiving);
    else if (object instanceof Map) {
      writer.byte(Value.MAP);
      writer.int(object.size);
      for (const [key, value] of object) {
        this.#part("a key", key, false);
        this.#part(String(key), value, false);
      }
    } else if (object instanceof Set) {
      writer.byte(Value.SET);
      writer.int(object.size);
      for (const value of object) this.#part("a member", value, false);
    } else this.#fields(object, isOfLiving);
  }

  #typedArray(array: AnyTypedArray): void {
    this.writer.byte(Value.TYPED_ARRAY);
    this.writer.name(array.constructor.name);
    this.writer.bytes(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
  }

  #array(array: readonly unknown[], isOfLiving: boolean): void {
    this.writer.byte(Value.ARRAY);
    this.writer.int(array.length);
    for (let i = 0; i < array.length; i++) {
      const nothing = undefinedFrom(array, i);
      this.writer.zeros(nothing);
      i += nothing;
      if (i === array.length) break;
      if (i in array) this.#part(i, array[i], isOfLiving);
      else this.writer.byte(Value.HOLE);
    }
  }

  #fields(object: object, isOfLiving: boolean): void {
    const { writer } = this;
    const saved = savedClassOf(object);
    const isPlain = saved === undefined && Object.getPrototypeOf(object) === Object.prototype;
    if (saved === undefined && !isPlain) throw this.#unsavable(`a ${object.constructor.name}`);
    if (saved?.lives && !isOfLiving)
      throw this.#unsavable(`a living ${saved.name}, which a restored process has elsewhere`);
    writer.byte(isPlain ? Value.PLAIN : Value.INSTANCE);
    if (saved !== undefined) writer.name(saved.name);
    const all = Object.keys(object);
    const fields = saved === undefined ? all : all.filter((field) => !Object.hasOwn(saved.unsaved, field));
    writer.int(fields.length);
    for (const field of fields) {
      writer.name(field);
      this.#part(field, (object as Record<string, unknown>)[field], isPlain ? isOfLiving : saved!.lives);
    }
  }

  /** A value under this name on the current path. */
  #part(name: string | number, value: unknown, isOfLiving: boolean): void {
    this.#path.push(name);
    this.value(value, isOfLiving);
    this.#path.pop();
  }

  #unsavable(what: string): StateError {
    return new StateError(`Cannot save ${this.#path.join(".")}: it is ${what}`);
  }
}

/** How many elements from that one on are undefined, which is one byte each: tables by the program's handles have thousands. */
function undefinedFrom(array: readonly unknown[], from: number): number {
  let end = from;
  while (end < array.length && array[end] === undefined && end in array) end++;
  return end - from;
}

assert(Value.UNDEFINED === 0, "nothing is written as zeros");
