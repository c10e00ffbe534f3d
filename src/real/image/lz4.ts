/** Codec 1: the length of the pages (u32, little-endian), then one LZ4 block. */
import { assert } from "../../core/base/assert.ts";
import type { Codec } from "../../image/codec.ts";

type Lz4 = typeof import("lz4-wasm-nodejs");
let loaded: Lz4 | undefined;

/** Loaded on demand: most threads that can write images never do. */
function load(): Lz4 {
  loaded ??= require("lz4-wasm-nodejs") as Lz4;
  return loaded;
}

export const lz4: Codec = {
  number: 1,
  compress: (pages) => load().compress(pages),
  decompress(stored, bytes) {
    const said = new DataView(stored.buffer, stored.byteOffset, stored.length).getUint32(0, true);
    // The package allocates as much as the length says before it examines anything else.
    assert(said === bytes, "a block says how long it will be");
    return load().decompress(stored);
  },
};
