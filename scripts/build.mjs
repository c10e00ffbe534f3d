// Builds dist/ from src/. `--if-stale` does nothing when no input has changed since the last build.
// dist/ is never emptied: a running job may still be loading from it; every file is replaced by rename.

import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
process.chdir(root);

function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

function inputsHash() {
  const hash = createHash("sha256").update(process.version);
  for (const file of [
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "tsconfig.types.json",
    ...filesBelow("scripts"),
    ...filesBelow("src"),
    ...filesBelow("include"),
  ]) {
    if (existsSync(file)) hash.update(`${file}\0`).update(readFileSync(file));
  }
  return hash.digest("hex");
}

/** npm links a package's own bin only for its dependents; `npx banyan` should work in a clone as well. */
function linkCommand() {
  const link = "node_modules/.bin/banyan";
  if (existsSync(link)) return;
  mkdirSync("node_modules/.bin", { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(relative(dirname(link), "bin/banyan.js"), link);
}

function exitOf(words) {
  const child = spawn(process.execPath, words, { stdio: "inherit" });
  return new Promise((resolve) => child.on("close", resolve));
}

linkCommand();
const hash = inputsHash();
const stamp = "dist/.inputs";
if (process.argv.includes("--if-stale") && existsSync(stamp) && readFileSync(stamp, "utf8") === hash) process.exit(0);

// The compiler of types does not depend on the steps below, which take as long.
const types = exitOf(["node_modules/typescript/bin/tsc", "-p", "tsconfig.types.json"]);

const { bundleAll } = await import("./bundles.mjs");
const { licencesText, packagesOf } = await import("./licences.mjs");
const inputs = await bundleAll("dist");
writeFileSync("dist/THIRD-PARTY-LICENSES.txt", licencesText(packagesOf(inputs)));

function copy(file, out) {
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(`${out}.new`, readFileSync(file));
  renameSync(`${out}.new`, out);
}

// Files that `banyan bench` starts (programs for Banyan's launcher, sources for the peers' compilers) and that `banyan cc`
// links.
for (const file of ["src/lab/programs", "src/lab/peers", "src/cc/support"].flatMap(filesBelow)) {
  copy(file, join("dist", relative("src", file)));
}
// For programs whose types are looked up by `require`.
copy("src/index.d.cts", "dist/types/index.d.cts");
// The bundled package looks for this file beside its own code, which is the bundle.
const lz4 = "lz4_wasm_nodejs_bg.wasm";
copy(join("node_modules/lz4-wasm-nodejs", lz4), join("dist", lz4));

const { generate } = await import("./mpi-wrappers.mjs");
generate("dist/cc/support");
// Removed sources of the support library would still be linked.
const supportNow = new Set([
  ...filesBelow("src/cc/support").map((file) => basename(file)),
  "mpi-calls.c",
  "signatures.ts",
]);
for (const file of filesBelow("dist/cc/support")) if (!supportNow.has(basename(file))) rmSync(file);

// Compiled here, so that no first program waits for it; where that fails, `banyan cc` compiles it on demand.
spawnSync(process.execPath, ["dist/cc-prepare-support.cjs"], { stdio: "inherit" });

if ((await types) !== 0) process.exit(1);
writeFileSync(stamp, hash);
