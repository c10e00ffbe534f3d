/**
 * The state of a process as bytes: everything that can be reached from its root object, each object once, by class and field
 * (saved-classes.ts). What belongs to the outside world is named, not written.
 */

import { type SavedClass, savedClassOf } from "../../core/base/saved-classes.ts";
import { ByteWriter } from "./byte-writer.ts";
import { StateError } from "./state-error.ts";
import { type AnyTypedArray, isTypedArray, Value } from "./value-kinds.ts";

/** Objects of the outside world, and what they are called. */
export type WorldNames = ReadonlyMap<object, string>;

export function saveState(root: object, world: WorldNames): Uint8Array {
  const saving = new Saving(world);
  saving.value(root, ["the process"], true);
  return saving.writer.done();
}

class Saving {
  readonly writer = new ByteWriter();
  readonly #world: WorldNames;
  readonly #numbers = new Map<object, number>();

  constructor(world: WorldNames) {
    this.#world = world;
  }

  /** `path` says where we are, for errors; `isOfLiving`: the object that has this value is there in a restored process. */
  value(value: unknown, path: string[], isOfLiving: boolean): void {
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
        else this.#object(value, path, isOfLiving);
        break;
      case "function":
        if (!this.#isWorld(value)) this.#own(path, isOfLiving, "a function");
        break;
      default:
        throw unsavable(path, `a ${typeof value}`);
    }
  }

  #text(kind: number, text: string): void {
    this.writer.byte(kind);
    this.writer.text(text);
  }

  /** What only a living object can keep. */
  #own(path: string[], isOfLiving: boolean, what: string): void {
    if (!isOfLiving) throw unsavable(path, what);
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
    this.#text(Value.WORLD, name);
    return true;
  }

  #object(object: object, path: string[], isOfLiving: boolean): void {
    const { writer } = this;
    if (this.#isWorld(object)) return;
    const known = this.#numbers.get(object);
    if (known !== undefined) {
      writer.byte(Value.AGAIN);
      writer.int(known);
      return;
    }
    if (isTypedArray(object) && object.buffer instanceof SharedArrayBuffer) {
      this.#own(path, isOfLiving, "a view of shared memory");
      return;
    }
    this.#numbers.set(object, this.#numbers.size);
    if (isTypedArray(object)) this.#typedArray(object);
    else if (Array.isArray(object)) this.#array(object, path, isOfLiving);
    else if (object instanceof Map) {
      writer.byte(Value.MAP);
      writer.int(object.size);
      for (const [key, value] of object) {
        this.value(key, [...path, "a key"], false);
        this.value(value, [...path, String(key)], false);
      }
    } else if (object instanceof Set) {
      writer.byte(Value.SET);
      writer.int(object.size);
      for (const value of object) this.value(value, [...path, "a member"], false);
    } else this.#fields(object, path, isOfLiving);
  }

  #typedArray(array: AnyTypedArray): void {
    this.#text(Value.TYPED_ARRAY, array.constructor.name);
    this.writer.bytes(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
  }

  #array(array: readonly unknown[], path: string[], isOfLiving: boolean): void {
    this.writer.byte(Value.ARRAY);
    this.writer.int(array.length);
    for (let i = 0; i < array.length; i++) {
      if (i in array) this.value(array[i], [...path, String(i)], isOfLiving);
      else this.writer.byte(Value.HOLE);
    }
  }

  #fields(object: object, path: string[], isOfLiving: boolean): void {
    const { writer } = this;
    const saved = savedClassOf(object);
    const isPlain = Object.getPrototypeOf(object) === Object.prototype;
    if (saved === undefined && !isPlain) throw unsavable(path, `a ${object.constructor.name}`);
    if (saved?.lives && !isOfLiving)
      throw unsavable(path, `a living ${saved.name}, which a restored process has elsewhere`);
    writer.byte(isPlain ? Value.PLAIN : Value.INSTANCE);
    if (saved !== undefined) writer.text(saved.name);
    const fields = Object.entries(object).filter(([field]) => isSaved(field, saved));
    writer.int(fields.length);
    for (const [field, value] of fields) {
      writer.text(field);
      this.value(value, [...path, field], isPlain ? isOfLiving : saved!.lives);
    }
  }
}

const isSaved = (field: string, saved: SavedClass | undefined): boolean => !Object.hasOwn(saved?.unsaved ?? {}, field);

function unsavable(path: readonly string[], what: string): StateError {
  return new StateError(`Cannot save ${path.join(".")}: it is ${what}`);
}
