import { Script } from "node:vm";

/**
 * The flags of V8 at a moment before some were set. A cache that is made at the end of a run holds the functions that the run needed, but V8 takes it
 * under those flags only under which it was made, and those of the next run are set when its code is loaded. None of them changes what
 * a cache holds.
 */
export class FlagsBefore {
  readonly #before = wordsOf(smallestCache());

  /** The cache as V8 would have made it then; undefined: where it notes its flags cannot be told. */
  under(cache: Uint8Array): Uint8Array | undefined {
    return noting(cache, wordsOf(smallestCache()), this.#before);
  }

  /** A cache of then as V8 would make it now. */
  underPresent(cache: Uint8Array): Uint8Array | undefined {
    return noting(cache, this.#before, wordsOf(smallestCache()));
  }
}

/** A cache with other flags than those that it notes. */
function noting(cache: Uint8Array, from: Uint32Array, to: Uint32Array): Uint8Array | undefined {
  const changed = [...from.keys()].filter((index) => from[index] !== to[index]);
  const result = Uint8Array.from(cache);
  const words = new Uint32Array(result.buffer, 0, from.length);
  const isNoted = changed.length === 1 && words[changed[0]!] === from[changed[0]!];
  if (isNoted) words[changed[0]!] = to[changed[0]!]!;
  return isNoted || changed.length === 0 ? result : undefined;
}

const smallestCache = (): Buffer => new Script("0").createCachedData();

/** The words at the beginning of a cache, which tell what it was made of, by whom and how; its length, and a sum of the rest, are among them. */
const wordsOf = (cache: Uint8Array): Uint32Array => new Uint32Array(Uint8Array.from(cache.subarray(0, 32)).buffer);
