/**
 * The code of a rank. Every thread has to load the same large file; compiled anew at 435 KB that took 29 ms a rank on a busy
 * machine, from V8's cache 1.1 ms. The cache is made by a rank whose program is over, so it holds the functions that ranks call;
 * it lies beside the code. Ranks call others under each protocol, and others again where there are sockets, so each of these has a
 * cache of its own: V8 would compile what is missing when it is first called, message by message, in every run. Without one (the first such run, a
 * folder that cannot be written) the node compiles once for all its threads.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";
import { cacheFileOf, keepCodeCache, readCodeCache } from "../../v8/code-cache.ts";
import type { FlagsBefore } from "../../v8/flags-before.ts";
import type { RankCode } from "../messages/rank-messages.ts";

/** `name`: rank, or c-rank. `kind`: of its run. */
export function loadRankCode(name: string, kind: string): RankCode {
  const file = join(__dirname, `${name}.cjs`);
  const source = `(function (require, __dirname, importModule, createCache) {${readFileSync(file, "utf8")}\n})`;
  const cacheFile = cacheFileOf(file, kind);
  const kept = readCodeCache(cacheFile, source);
  const cache = shared(kept ?? new Script(source, { filename: file }).createCachedData());
  return { file, folder: __dirname, source, cache, cacheMissing: kept === undefined ? cacheFile : "" };
}

/**
 * For threads that start under other flags than the first, as those of clones do: V8 would reject the cache unless it notes these flags, and one that is made
 * now must not be kept. Without a cache that was kept the code is compiled anew.
 */
export function underPresentFlags(code: RankCode, before: FlagsBefore): RankCode {
  const { file, folder, source, cacheMissing } = code;
  const kept = cacheMissing === "" ? before.underPresent(new Uint8Array(code.cache)) : undefined;
  const cache = shared(kept ?? new Script(source, { filename: file }).createCachedData());
  return { file, folder, source, cache, cacheMissing: "" };
}

function shared(bytes: Uint8Array): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(bytes.length);
  new Uint8Array(memory).set(bytes);
  return memory;
}

/** Keeps what a rank that is ready to run has compiled, for all ranks to come. */
export function keepCache({ cacheMissing, source }: RankCode, cache: Uint8Array): void {
  keepCodeCache(cacheMissing, source, () => cache);
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
