/**
 * Writes to a file by a system call and nothing else: a few dozen bytes take 6 µs through Node's own way, 2.5 so (Neoverse-N1). Whoever writes a
 * record for each message notices that.
 */
import { assert } from "../../core/base/assert.ts";
import { openLibrary } from "../machine/library-functions.ts";
import { ViewAddresses } from "../machine/view-addresses.ts";

/** The first bytes of an array, so many: how many were written; not positive: none, and Node's own way will say why. */
export type DirectWrite = (file: number, words: Int32Array, bytes: number) => number;

type Write = (file: number, at: number, bytes: number) => number;

/** Null: there is no such way here. */
export const openDirectWrite = (): DirectWrite | null =>
  openLibrary((library, koffi) => {
    const write = library.func("int write(int, int64_t, int)") as Write;
    const addresses = new ViewAddresses(koffi);
    return (file, words, bytes) => {
      assert(bytes >= 0 && bytes <= words.byteLength, "a write reaches outside the words it was given");
      return write(file, addresses.of(words, 0), bytes);
    };
  });
