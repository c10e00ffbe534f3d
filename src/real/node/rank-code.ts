/**
 * The code of a rank, compiled once for all threads of a node: each of them loads V8's cache of it instead of parsing a
 * large file again (2.6 of 3.3 ms a rank saved at 150 KB, and the file grows).
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";

/** Crosses to the threads as it is. */
export interface RankCode {
  readonly file: string;
  readonly folder: string;
  /** rank.cjs as a function of what it uses; a script that was loaded from a cache cannot import modules by itself. */
  readonly source: string;
  readonly cache: SharedArrayBuffer;
}

export function compileRankCode(): RankCode {
  const file = join(__dirname, "rank.cjs");
  const source = `(function (require, __dirname, importModule) {${readFileSync(file, "utf8")}\n})`;
  const cache = new Script(source, { filename: file }).createCachedData();
  const shared = new SharedArrayBuffer(cache.length);
  new Uint8Array(shared).set(cache);
  return { file, folder: __dirname, source, cache: shared };
}

/** What a thread starts with, as text: it must not cost the threads another file. A cache that V8 rejects is only slower. */
export const rankLoader = `
const { workerData } = require("node:worker_threads");
const { Script } = require("node:vm");
const { file, folder, source, cache } = workerData.code;
const run = new Script(source, { filename: file, cachedData: new Uint8Array(cache) }).runInThisContext();
run(require, folder, (url) => import(url));
`;
