/**
 * What `bin/banyan.js` loads: the command line's code, from V8's cache if there is one. `banyan run`, for which a job waits, has a
 * bundle of its own, and the first of them that ends well makes the cache: by then V8 has compiled what a run needs.
 */
import { join } from "node:path";
import { runBundle } from "../v8/cached-bundle.ts";

const isRun = process.argv[2] === "run";
const keepCache = runBundle(join(__dirname, isRun ? "cli-run.cjs" : "cli.cjs"));
if (isRun) {
  process.on("exit", (code) => {
    if (code === 0) keepCache();
  });
}
