/**
 * What `bin/banyan.js` loads: the command line's code, from V8's cache if there is one. The first `banyan run` that ends well makes
 * it: by then V8 has compiled what a run needs.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { constants, Script } from "node:vm";
import { cacheFileOf, keepCodeCache, readCodeCache } from "../v8/code-cache.ts";

const file = join(__dirname, "cli.cjs");
const source = `(function (require, __dirname) {${readFileSync(file, "utf8")}\n})`;
const cacheFile = cacheFileOf(file);
const cachedData = readCodeCache(cacheFile, source);
const script = new Script(source, {
  filename: file,
  ...(cachedData === undefined ? {} : { cachedData }),
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
});
const load = script.runInThisContext() as (require: NodeJS.Require, folder: string) => void;
load(createRequire(file), __dirname);
if (cachedData === undefined && process.argv[2] === "run") {
  process.on("exit", (code) => {
    if (code === 0) keepCodeCache(cacheFile, source, () => script.createCachedData());
  });
}
