/**
 * The code of a rank. Every thread has to load the same large file; compiled anew at 435 KB that took 29 ms a rank on a busy
 * machine, from V8's cache 1.1 ms. The cache is made by a rank whose program is over, so it holds the functions that ranks call;
 * it lies beside the code. Ranks call others under each protocol, and others again where there are sockets, so each of these has a
 * cache of its own, to which the first run of each program adds: V8 would compile what is missing when it is first called, message by message, in every run
 * (is of class W on two nodes takes 0.077 s with a cache that it has added to, 0.088 with one that another program made; ADR 88). Without one
 * (the first such run, a folder that cannot be written) the node compiles once for all its threads.
 *
 * The file has a byte, the number of programs that have added to it, their names, and the cache.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";
import { cacheFileOf, keepCodeCache, readCodeCache } from "../../v8/code-cache.ts";
import type { FlagsBefore } from "../../v8/flags-before.ts";
import { programNameBytes, type RankCode, type RankCompiled } from "../messages/rank-messages.ts";

/** Of the programs that have added to a cache these are remembered; older ones add again. */
const programsMax = 64;

/** `name`: rank, or c-rank. `kind`: of its run. `folder`: of the code; the node's own unless given. */
export function loadRankCode(name: string, kind: string, folder = __dirname): RankCode {
  const file = join(folder, `${name}.cjs`);
  const source = `(function (require, __dirname, importModule, createCache) {${readFileSync(file, "utf8")}\n})`;
  const cacheFile = cacheFileOf(file, kind);
  const kept = readCodeCache(cacheFile, source);
  const isKept = kept !== undefined;
  const { programs, cache } = isKept
    ? withoutPrograms(kept)
    : { programs: [], cache: new Script(source, { filename: file }).createCachedData() };
  return { file, folder, source, cache: shared(cache), cacheFile, isKept, programs };
}

function withoutPrograms(kept: Buffer): { programs: string[]; cache: Uint8Array } {
  const count = kept[0]!;
  const nameAt = (index: number): number => 1 + index * programNameBytes;
  const nameOf = (_: unknown, index: number): string => kept.toString("hex", nameAt(index), nameAt(index + 1));
  return { programs: Array.from({ length: count }, nameOf), cache: kept.subarray(nameAt(count)) };
}

/**
 * For threads that start under other flags than the first, as those of clones do: V8 would reject the cache unless it notes these flags, and one that is made
 * now must not be kept. Without a cache that was kept the code is compiled anew.
 */
export function underPresentFlags(code: RankCode, before: FlagsBefore): RankCode {
  const { file, folder, source, isKept, programs } = code;
  const kept = isKept ? before.underPresent(new Uint8Array(code.cache)) : undefined;
  const cache = shared(kept ?? new Script(source, { filename: file }).createCachedData());
  return { file, folder, source, cache, cacheFile: "", isKept, programs };
}

function shared(bytes: Uint8Array): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(bytes.length);
  new Uint8Array(memory).set(bytes);
  return memory;
}

/** Keeps what a rank whose program is over has compiled, and what it was given, for all ranks to come. */
export function keepCache(code: RankCode, { cache, program }: Omit<RankCompiled, "kind">): void {
  // V8 drops functions that have not been called for long: a long run may have less in the end than it was given.
  const isLess = code.isKept && cache.length < code.cache.byteLength;
  const programs = [...code.programs, program].slice(-programsMax);
  const names = Buffer.from(programs.join(""), "hex");
  const bytes = isLess ? new Uint8Array(code.cache) : cache;
  keepCodeCache(code.cacheFile, code.source, () => Buffer.concat([Uint8Array.of(programs.length), names, bytes]));
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
