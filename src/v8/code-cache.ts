/**
 * What V8 has compiled of a large file, kept beside it: to compile 1.7 MB anew takes 60 ms, from the cache 10. A cache belongs to
 * one version of Node, one architecture and the flags of V8 under which it was made; V8 rejects any other, and compiles.
 */
import { createHash } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

const digestBytes = 32;

/** Where the cache of `x.cjs` is; `kind`: for runs of that kind, which call other functions than others. */
export function cacheFileOf(file: string, kind?: string): string {
  const name = kind === undefined ? "" : `-${kind}`;
  return file.replace(/\.cjs$/, `${name}-${process.version}-${process.arch}.cache`);
}

/**
 * Undefined: there is none for this source at this place. V8 itself compares no more than the length of the source, and its errors
 * would name the place where the cache was made.
 */
export function readCodeCache(cacheFile: string, source: string): Buffer | undefined {
  try {
    const bytes = readFileSync(cacheFile);
    const cache = bytes.subarray(digestBytes);
    return digestOf(cacheFile, source, cache).equals(bytes.subarray(0, digestBytes)) ? cache : undefined;
  } catch {
    return undefined;
  }
}

/** `make` is asked when it is certain that the cache can be written: it takes a moment. Undefined: it cannot be made. */
export function keepCodeCache(cacheFile: string, source: string, make: () => Uint8Array | undefined): void {
  const unfinished = `${cacheFile}.${process.pid}`;
  try {
    writeFileSync(unfinished, "");
    const cache = make();
    if (cache === undefined) rmSync(unfinished);
    else {
      writeFileSync(unfinished, Buffer.concat([digestOf(cacheFile, source, cache), cache]));
      renameSync(unfinished, cacheFile);
    }
  } catch {
    // A full disk, a folder of somebody else's: the next run will be as fast as this one.
    rmSync(unfinished, { force: true });
  }
}

function digestOf(cacheFile: string, source: string, cache: Uint8Array): Buffer {
  return createHash("sha256").update(`${cacheFile}\0`).update(source).update(cache).digest();
}
