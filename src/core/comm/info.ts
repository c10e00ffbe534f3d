/**
 * An info object (MPI 5.0 §10): strings by string keys, in the order in which the keys were first set. Limits are those of the
 * ABI, which count the closing zero of C: 255 bytes for a key, 1023 for a value, in UTF-8.
 */
import { ErrorClass, MpiError } from "../base/mpi-error.ts";
import { saves } from "../base/saved-classes.ts";

export const infoKeyBytesMax = 255;
export const infoValueBytesMax = 1023;

export class Info {
  private readonly texts = new Map<string, string>();

  static of(entries: Iterable<readonly [string, string]>): Info {
    const info = new Info();
    for (const [key, value] of entries) info.set(key, value);
    return info;
  }

  set(key: string, value: string): void {
    checkKey("set", key);
    const bytes = byteLength(value);
    if (bytes > infoValueBytesMax) {
      throw new MpiError(
        ErrorClass.INFO_VALUE,
        `Cannot set info key "${key}": the value has ${bytes} bytes and may have ${infoValueBytesMax}`,
      );
    }
    this.texts.set(key, value);
  }

  get(key: string): string | undefined {
    checkKey("get", key);
    return this.texts.get(key);
  }

  delete(key: string): void {
    checkKey("delete", key);
    if (this.texts.delete(key)) return;
    throw new MpiError(ErrorClass.INFO_NOKEY, `Cannot delete info key "${key}": it is not set`);
  }

  has(key: string): boolean {
    checkKey("look for", key);
    return this.texts.has(key);
  }

  /** How many keys are set. */
  get size(): number {
    return this.texts.size;
  }

  keys(): IterableIterator<string> {
    return this.texts.keys();
  }

  values(): IterableIterator<string> {
    return this.texts.values();
  }

  entries(): IterableIterator<[string, string]> {
    return this.texts.entries();
  }

  nthKey(n: number): string {
    const key = [...this.texts.keys()][n];
    if (key !== undefined) return key;
    throw new MpiError(ErrorClass.ARG, `Cannot get info key number ${n}: there are ${this.size} keys, counted from 0`);
  }

  dup(): Info {
    return Info.of(this.texts);
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.texts[Symbol.iterator]();
  }
}

/** For texts that no program has chosen: one that is too long for a value is left out. */
export function setIfItFits(info: Info, key: string, value: string): void {
  if (byteLength(value) <= infoValueBytesMax) info.set(key, value);
}

function checkKey(verb: string, key: string): void {
  const bytes = byteLength(key);
  if (bytes > 0 && bytes <= infoKeyBytesMax) return;
  throw new MpiError(
    ErrorClass.INFO_KEY,
    `Cannot ${verb} an info key of ${bytes} bytes: it must have 1 to ${infoKeyBytesMax}`,
  );
}

function byteLength(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

saves({ Info });
