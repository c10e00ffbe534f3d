/**
 * The code of a rank. Every thread has to load the same large file; compiled anew at 435 KB that took 29 ms a rank on a busy
 * machine, from V8's cache 1.1 ms. The cache is made once for an installation, by a rank that is ready to run its program, so
 * it also holds the functions that are compiled on the way there; it lies beside the code. Without it (the first run, a
 * folder that cannot be written) the node compiles once for all its threads.
 */
import { createHash } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";

/** Crosses to the threads as it is. */
export interface RankCode {
  readonly file: string;
  readonly folder: string;
  /** rank.cjs as a function of what it uses; a script that was loaded from a cache cannot import modules by itself. */
  readonly source: string;
  readonly cache: SharedArrayBuffer;
  /** Where there should be a cache and is none; else empty. */
  readonly cacheMissing: string;
}

const digestBytes = 32;

/** `name`: rank, or c-rank. */
export function loadRankCode(name: string): RankCode {
  const file = join(__dirname, `${name}.cjs`);
  const source = `(function (require, __dirname, importModule, createCache) {${readFileSync(file, "utf8")}\n})`;
  const cacheFile = join(__dirname, `${name}-${process.version}-${process.arch}.cache`);
  const kept = readCache(cacheFile, source);
  const cache = kept ?? new Script(source, { filename: file }).createCachedData();
  const shared = new SharedArrayBuffer(cache.length);
  new Uint8Array(shared).set(cache);
  return { file, folder: __dirname, source, cache: shared, cacheMissing: kept === undefined ? cacheFile : "" };
}

/** Keeps what a rank that is ready to run has compiled, for all ranks to come. */
export function keepCache({ cacheMissing, source }: RankCode, cache: Uint8Array): void {
  const unfinished = `${cacheMissing}.${process.pid}`;
  try {
    writeFileSync(unfinished, Buffer.concat([digestOf(source, cache), cache]));
    renameSync(unfinished, cacheMissing);
  } catch {
    // A full disk, a folder of somebody else's: the next run will be as fast as this one.
    rmSync(unfinished, { force: true });
  }
}

/** V8 itself compares no more than the length of the source. */
function readCache(file: string, source: string): Buffer | undefined {
  try {
    const bytes = readFileSync(file);
    const cache = bytes.subarray(digestBytes);
    return digestOf(source, cache).equals(bytes.subarray(0, digestBytes)) ? cache : undefined;
  } catch {
    return undefined;
  }
}

function digestOf(source: string, cache: Uint8Array): Buffer {
  return createHash("sha256").update(source).update(cache).digest();
}

/** What a thread starts with, as text: it must not cost the threads another file. A cache that V8 rejects is only slower. */
export const rankLoader = `
const { workerData } = require("node:worker_threads");
const { createRequire } = require("node:module");
const { Script } = require("node:vm");
const { file, folder, source, cache } = workerData.code;
const script = new Script(source, { filename: file, cachedData: new Uint8Array(cache) });
// Our own: that of a thread made of text looks for packages in the current folder.
script.runInThisContext()(createRequire(file), folder, (url) => import(url), () => script.createCachedData());
`;
