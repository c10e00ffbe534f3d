/**
 * Copies words between arrays, many of them by `memcpy`: between views of shared memory V8 copies eight bytes at a time, with an atomic load and an
 * atomic store for each. Nobody reads the words before they are published, nor writes them before they are taken.
 */
import { assert } from "../../core/base/assert.ts";
import { copyWords } from "../../core/base/copy-words.ts";
import { openLibrary } from "../machine/library-functions.ts";
import { ViewAddresses } from "../machine/view-addresses.ts";

/** A native call takes a microsecond. */
const manyWords = 1 << 12;

type NativeCopy = (into: number, from: number, bytes: number) => number;

interface Native {
  readonly copy: NativeCopy;
  readonly addresses: ViewAddresses;
}

/** Undefined: not looked for yet; null: there is none here. */
let native: Native | null | undefined;

/** Words `from` … of an array, so many, to another one. They do not overlap. */
export function copyManyWords(words: Int32Array, from: number, into: Int32Array, at: number, count: number): void {
  if (count >= manyWords && native === undefined) native = openNative();
  if (count < manyWords || native == null) {
    copyWords(words, from, into, at, count);
    return;
  }
  assert(from >= 0 && from + count <= words.length, "a copy reaches outside the words that it is of");
  assert(at >= 0 && at + count <= into.length, "a copy reaches outside the words that it is to");
  const { copy, addresses } = native;
  copy(addresses.of(into, 4 * at), addresses.of(words, 4 * from), 4 * count);
}

const openNative = (): Native | null =>
  openLibrary((library, koffi) => ({
    copy: library.func("int64_t memcpy(int64_t, int64_t, int64_t)") as NativeCopy,
    addresses: new ViewAddresses(koffi),
  }));
