// `npm test`: build what is stale, check, then run every *.test.ts under src/ and test/.
//   npm test                    everything
//   npm test -- core/p2p        only test files whose path contains the words given
//   npm test -- --no-check …    without lint and types, while working
//   npm run test:long           those too that take long (test/long.ts)
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
process.chdir(root);
/** The exit code of one of our scripts. */
const run = (args) => {
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  return new Promise((resolve) => child.on("close", (code) => resolve(code ?? 1)));
};

// Node reads and checks these at every start, of which tests have thousands (80 ms each, for the list of a usual system). No test
// uses TLS.
delete process.env.NODE_EXTRA_CA_CERTS;
if (process.argv.includes("--long")) process.env.BANYAN_LONG_TESTS = "1";
const words = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const built = await run(["scripts/build.mjs", "--if-stale"]);
if (built !== 0) process.exit(built);
// It has ended before the first test begins.
const checked = process.argv.includes("--no-check") ? 0 : run(["scripts/check.mjs"]);

const testsBelow = (folder) =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true, recursive: true })
        .filter((entry) => entry.isFile() && entry.name.endsWith(".test.ts"))
        .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    : [];
const sources = [...testsBelow("src"), ...testsBelow("test")]
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .sort();
if (sources.length === 0) {
  console.error(`No test file matches ${words.join(" ")}`);
  process.exit(2);
}

// Tests that start no process share one with others of their folder: to start one for each file takes longer than most of them.
// Those that measure have one for themselves, and so has clang, which wants flags of the engine for itself.
const inProcess = ["abi", "cli", "core", "image", "lab", "mpi", "sim", "trust", "wasi"].map((name) =>
  join("src", name),
);
const isAlone = (file) => /-speed|abi.header/.test(file) || !inProcess.some((folder) => file.startsWith(folder));
const folders = new Map();
for (const file of sources.filter((each) => !isAlone(each))) {
  folders.set(dirname(file), [...(folders.get(dirname(file)) ?? []), file]);
}

/** Those that take longest begin first: then nobody waits for the last of them alone. What is not here takes a few seconds. */
const longest = [
  ...[
    "test/logging-kills",
    "src/cc/cc",
    "test/freeze.",
    "test/c-spawn",
    "test/demo",
    "src-core-p2p",
    "src-sim",
    "test/kernels",
  ],
  ...[
    "test/protocol-proof",
    "test/start-kills",
    "src/cc/support",
    "test/c-",
    "test/run-",
    "test/logging-",
    "test/docs",
  ],
  ...["test/sim-", "src-", "src/cc/", "test/mpi-", "test/"],
];
const placeOf = (path) => {
  const place = longest.findIndex((start) => path.startsWith(start));
  return place < 0 ? longest.length : place;
};

const { build } = await import("esbuild");
const { headerPlugin } = await import("./header-plugin.mjs");
const { watPlugin } = await import("./wat-plugin.mjs");
// A folder of its own for each run: two runs at once do not step on each other.
const out = `dist/test/${process.pid}`;
mkdirSync(out, { recursive: true });
process.on("exit", () => rmSync(out, { recursive: true, force: true }));
const together = [...folders].map(([folder, files]) => {
  const path = join(out, `${folder.replaceAll("/", "-")}.test.ts`);
  writeFileSync(path, files.map((file) => `import ${JSON.stringify(join(root, file))};\n`).join(""));
  return path;
});
const named = (path) => path.replace(`${out}/`, "");
const inOrder = [...sources.filter(isAlone), ...together].sort((a, b) => placeOf(named(a)) - placeOf(named(b)));
// Node takes test files in the order of their names, whatever the order in which they are given.
const entryPoints = inOrder.map((path, index) => ({
  in: path,
  out: `${`${index}`.padStart(3, "0")}-${named(path).replaceAll("/", "-").replace(/\.ts$/, "")}`,
}));
await build({
  entryPoints,
  outdir: out,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  target: "node20",
  format: "esm",
  packages: "external",
  plugins: [watPlugin, headerPlugin],
  define: { __BANYAN_VERSION__: JSON.stringify("test") },
  sourcemap: "linked",
  banner: {
    js: `import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);`,
  },
});
if ((await checked) !== 0) process.exit(1);
const files = entryPoints.map((entry) => join(out, `${entry.out}.mjs`));
const { status } = spawnSync(
  process.execPath,
  [
    "--enable-source-maps",
    "--disable-warning=ExperimentalWarning",
    "--test",
    "--test-reporter=spec",
    // More than there are processors: many wait for deaths, heartbeats and sleeping programs. More of them need more memory.
    `--test-concurrency=${Math.min(availableParallelism() + 6, 10)}`,
    ...files,
  ],
  { stdio: "inherit" },
);
process.exit(status ?? 1);
