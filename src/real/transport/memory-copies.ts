/**
 * Copies between two shared memories: by one WebAssembly instruction where modules may have two of them (Node 22 and later),
 * otherwise by words, `set` or `fill` (view-copy.ts). Up to 32 bytes words are fastest anyway.
 */

import { copyInto, Windows } from "../machine/view-copy.ts";
import copyModule from "./copy.wat";
import twoMemories from "./two-memories.wat";

const wordLoopBytesMax = 32;

type Copy = (to: number, from: number, bytes: number) => void;

let compiled: WebAssembly.Module | null | undefined;

/** A memory as this file wants it: its views made once. */
export interface SharedViews {
  readonly memory: WebAssembly.Memory;
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
}

export function sharedViewsOf(memory: WebAssembly.Memory): SharedViews {
  return { memory, bytes: new Uint8Array(memory.buffer), words: new Int32Array(memory.buffer) };
}

let copier: WebAssembly.Module | undefined;

/** Copies inside one memory. */
export function copyInside(memory: WebAssembly.Memory): Copy {
  copier ??= new WebAssembly.Module(copyModule);
  return new WebAssembly.Instance(copier, { memory: { memory } }).exports["copy"] as Copy;
}

/** From one memory to another. */
export class MemoryCopies {
  readonly #from: SharedViews;
  readonly #to: SharedViews;
  readonly #fromWords: Int32Array;
  readonly #toWords: Int32Array;
  readonly #windows: Windows | null;
  readonly #copy: Copy | null;

  constructor(from: SharedViews, to: SharedViews) {
    this.#from = from;
    this.#to = to;
    this.#fromWords = from.words;
    this.#toWords = to.words;
    this.#copy = copyBetween(from.memory, to.memory);
    this.#windows = this.#copy === null ? new Windows(from.bytes) : null;
  }

  copy(to: number, from: number, bytes: number): void {
    if (bytes <= wordLoopBytesMax && ((to | from | bytes) & 3) === 0) {
      const source = this.#fromWords;
      const target = this.#toWords;
      let word = to >> 2;
      const end = (from + bytes) >> 2;
      for (let i = from >> 2; i < end; i++) target[word++] = source[i]!;
    } else if (this.#copy !== null) this.#copy(to, from, bytes);
    else copyInto(this.#to.bytes, to, this.#windows!.of(from, bytes));
  }

  /** The same for large blocks of which the next one lies elsewhere: nothing is remembered. */
  copyLarge(to: number, from: number, bytes: number): void {
    if (this.#copy !== null) this.#copy(to, from, bytes);
    else copyInto(this.#to.bytes, to, this.#from.bytes.subarray(from, from + bytes));
  }
}

/** One instruction that copies between the memories, as a function of WebAssembly; null: this V8 has none. */
export function copyBetween(from: WebAssembly.Memory, to: WebAssembly.Memory): Copy | null {
  compiled ??= WebAssembly.validate(twoMemories) ? new WebAssembly.Module(twoMemories) : null;
  if (compiled === null) return null;
  const { exports } = new WebAssembly.Instance(compiled, { a: { memory: from }, b: { memory: to } });
  return exports["aToB"] as Copy;
}
