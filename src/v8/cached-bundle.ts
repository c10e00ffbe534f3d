/** Runs a bundle of ours, compiled by V8 from its cache if there is one (code-cache.ts). */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { constants, Script } from "node:vm";
import { cacheFileOf, keepCodeCache, readCodeCache } from "./code-cache.ts";
import { FlagsBefore } from "./flags-before.ts";

/** What a bundle is given that runs this way: keeps all that V8 has compiled of it by then. Does nothing where there is a cache already. */
export type KeepCache = () => void;

export function runBundle(file: string): KeepCache {
  const source = `(function (require, __dirname, keepCache) {${readFileSync(file, "utf8")}\n})`;
  const cacheFile = cacheFileOf(file);
  const cachedData = readCodeCache(cacheFile, source);
  const script = new Script(source, {
    filename: file,
    ...(cachedData === undefined ? {} : { cachedData }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const flags = cachedData === undefined ? new FlagsBefore() : null;
  const keep = (): void => {
    if (flags !== null) keepCodeCache(cacheFile, source, () => flags.under(script.createCachedData()));
  };
  const run = script.runInThisContext() as (require: NodeJS.Require, folder: string, keepCache: KeepCache) => void;
  run(createRequire(file), dirname(file), keep);
  return keep;
}
