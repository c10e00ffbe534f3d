// Builds dist/ from src/. `--if-stale` does nothing when no input has changed since the last build.
// dist/ is never emptied: a running job may still be loading from it; every file is replaced by rename.

import { spawnSync } from "node:child_process";
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

/** What is shipped: each entry is one small bundle, because every rank loads it anew (facts: few modules, CommonJS). */
const bundles = [
  { entry: "src/cli/main.ts", out: "dist/cli.cjs", format: "cjs" },
  { entry: "src/cli/sim-thread.ts", out: "dist/sim-thread.cjs", format: "cjs" },
  { entry: "src/cc/server.ts", out: "dist/cc-server.cjs", format: "cjs" },
  { entry: "src/cc/worker.ts", out: "dist/cc-worker.cjs", format: "cjs" },
  { entry: "src/cc/prepare-support.ts", out: "dist/cc-prepare-support.cjs", format: "cjs" },
  { entry: "src/cc/compile-program.ts", out: "dist/cc.cjs", format: "cjs" },
  { entry: "src/real/node/agent.ts", out: "dist/agent.cjs", format: "cjs" },
  { entry: "src/real/node/rank.ts", out: "dist/rank.cjs", format: "cjs" },
  { entry: "src/real/node/c-rank.ts", out: "dist/c-rank.cjs", format: "cjs" },
  { entry: "src/real/image/image-thread.ts", out: "dist/image-thread.cjs", format: "cjs" },
  { entry: "src/real/node/image-store-thread.ts", out: "dist/image-store-thread.cjs", format: "cjs" },
  { entry: "src/real/checkpoint-server/checkpoint-server.ts", out: "dist/checkpoint-server.cjs", format: "cjs" },
  { entry: "src/real/slow-links/slow-links-thread.ts", out: "dist/slow-links-thread.cjs", format: "cjs" },
  { entry: "src/real/image/verify-thread.ts", out: "dist/verify-thread.cjs", format: "cjs" },
  { entry: "src/real/logging/logger.ts", out: "dist/logger.cjs", format: "cjs" },
  { entry: "src/real/service/launch.ts", out: "dist/launch.cjs", format: "cjs" },
  { entry: "src/index.ts", out: "dist/banyan.mjs", format: "esm" },
];

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

/** npm links a package's own bin only for its dependents; a clone wants `npx banyan` to work as well. */
function linkCommand() {
  const link = "node_modules/.bin/banyan";
  if (existsSync(link)) return;
  mkdirSync("node_modules/.bin", { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(relative(dirname(link), "bin/banyan.js"), link);
}

linkCommand();
const hash = inputsHash();
const stamp = "dist/.inputs";
if (process.argv.includes("--if-stale") && existsSync(stamp) && readFileSync(stamp, "utf8") === hash) process.exit(0);

const { build } = await import("esbuild");
const { headerPlugin } = await import("./header-plugin.mjs");
const { watPlugin } = await import("./wat-plugin.mjs");
const { licencesText, packagesOf } = await import("./licences.mjs");
mkdirSync("dist", { recursive: true });
const { version } = JSON.parse(readFileSync("package.json", "utf8"));

const inputs = await Promise.all(
  bundles.map(async ({ entry, out, format }) => {
    const result = await build({
      entryPoints: [entry],
      bundle: true,
      platform: "node",
      target: "node20",
      format,
      packages: "bundle",
      external: ["esbuild", "koffi", "@yowasp/clang", "binaryen"],
      plugins: [watPlugin, headerPlugin],
      define: { __BANYAN_VERSION__: JSON.stringify(version) },
      write: false,
      sourcemap: "linked",
      metafile: true,
      outfile: out,
      legalComments: "none",
    });
    for (const file of result.outputFiles) {
      writeFileSync(`${file.path}.new`, file.contents);
      renameSync(`${file.path}.new`, file.path);
    }
    return Object.keys(result.metafile.inputs);
  }),
);
writeFileSync("dist/THIRD-PARTY-LICENSES.txt", licencesText(packagesOf(inputs.flat())));

function copy(file, out) {
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(`${out}.new`, readFileSync(file));
  renameSync(`${out}.new`, out);
}

// What `banyan bench` starts (programs for our own launcher, sources for the peers' compilers) and what `banyan cc` links.
for (const file of ["src/lab/programs", "src/lab/peers", "src/cc/support"].flatMap(filesBelow)) {
  copy(file, join("dist", relative("src", file)));
}
// The bundled package looks for it beside its own code, which is then ours.
const lz4 = "lz4_wasm_nodejs_bg.wasm";
copy(join("node_modules/lz4-wasm-nodejs", lz4), join("dist", lz4));

const { generate } = await import("./mpi-wrappers.mjs");
generate("dist/cc/support");
// Sources of the support library that are no more would still be linked.
const supportNow = new Set([
  ...filesBelow("src/cc/support").map((file) => basename(file)),
  "mpi-calls.c",
  "signatures.ts",
]);
for (const file of filesBelow("dist/cc/support")) if (!supportNow.has(basename(file))) rmSync(file);

// Compiled here, so that nobody's first program waits for it; where that fails, `banyan cc` does it when it is needed.
spawnSync(process.execPath, ["dist/cc-prepare-support.cjs"], { stdio: "inherit" });

const types = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.types.json"], {
  stdio: "inherit",
});
if (types.status !== 0) process.exit(1);
writeFileSync(stamp, hash);
