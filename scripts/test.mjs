// `npm test`: build what is stale, check, then run every *.test.ts under src/ and test/.
//   npm test                    everything
//   npm test -- core/p2p        only test files whose path contains the words given
//   npm test -- --no-check …    without lint and types, while working
//   npm test -- --times …       and what processor time each file took
//   npm run test:long           those too that take long (test/long.ts)
import { spawn } from "node:child_process";
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
// No server of a test spends a minute on making machine code for servers that come later.
process.env.BANYAN_CC_TRAIN_AFTER_MS = "never";
// The one that most tests use compiles hundreds of programs.
process.env.BANYAN_CC_FOR_LONG = "1";
if (process.argv.includes("--long")) process.env.BANYAN_LONG_TESTS = "1";
const words = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const built = await run(["scripts/build.mjs", "--if-stale"]);
if (built !== 0) process.exit(built);
// Beside the first tests: it needs one processor, and they are the longest.
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

/**
 * Tests that start no process share one with others, a line of this table: to start one for each file takes longer than most of them.
 * A name is the beginning of a path; the first that fits counts. The last line's files read sources and documents alone.
 */
const sharing = [
  ["src/core/p2p/"],
  ["src/core/process/", "src/core/binding/", "src/core/request/"],
  ["src/core/coll/", "src/core/comm/"],
  ["src/core/"],
  ["src/sim/logging/"],
  ["src/sim/recovery/outside", "src/sim/recovery/theorems"],
  ["src/sim/recovery/"],
  ["src/sim/run-seed"],
  ["src/sim/"],
  // The one that loads clang waits for the other's.
  ["src/cc/support.", "src/abi/header."],
  ["src/abi/calls/", "src/mpi/"],
  ["src/abi/"],
  ["src/cli/", "src/image/", "src/lab/", "src/trust/", "src/wasi/"],
  [
    ...[
      "source-scan",
      "include-closure",
      "frames",
      "installation",
      "response-file",
      "command-line",
      "disk-trouble",
    ].map((name) => `src/cc/${name}.`),
    ...["src/v8/code-cache.", "src/real/framing/", "src/real/disk/", "src/real/output/", "src/real/messages/late"],
    ...["src/real/messages/where", "src/real/messages/restore", "src/real/data-plane/", "src/real/file-service/"],
    ...["src/real/process/inquiry", "src/real/process/rank-host", "src/real/process/open-process"],
    ...["src/real/job/folder/", "src/real/job/programs/", "src/real/job/report/", "src/real/job/recovery/set-images"],
    ...["src/real/control-link/invitation", "src/real/control-link/message-shapes", "src/real/logging/spill-file"],
    ...["src/real/service-channel/store-file", "src/real/c-rank/restored", "src/real/rank/fault-watch"],
  ],
  ["src/real/transport/testing/", "src/real/service-channel/channel-ring-explored"],
  [
    "architecture-map",
    "combination",
    "document-paths",
    "faces",
    "imports",
    "launch-tables",
    "licences",
    "bundles",
    "names",
    "protocol-names",
  ]
    .concat(["purity", "rows", "saved-classes"])
    .map((name) => `test/${name}.`),
];
/** By the first name of a line. Those that measure have a process for themselves. */
const shared = new Map();
const alone = [];
for (const file of sources) {
  const line = /-speed/.test(file) ? undefined : sharing.find((names) => names.some((name) => file.startsWith(name)));
  if (line === undefined) alone.push(file);
  else shared.set(line[0], [...(shared.get(line[0]) ?? []), file]);
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
const together = [...shared].map(([name, files]) => {
  const path = join(out, `${name.replace(/\W$/, "").replaceAll("/", "-")}.test.ts`);
  writeFileSync(path, files.map((file) => `import ${JSON.stringify(join(root, file))};\n`).join(""));
  return path;
});
const named = (path) => path.replace(`${out}/`, "");
const inOrder = [...alone, ...together].sort((a, b) => placeOf(named(a)) - placeOf(named(b)));
// Node takes test files in the order of their names, whatever the order in which they are given.
const entryPoints = inOrder.map((path, index) => ({
  in: path,
  out: `${`${index}`.padStart(3, "0")}-${named(path).replaceAll("/", "-").replace(/\.ts$/, "")}`,
}));
const { printTimes, timesBanner } = await import("./test-times.mjs");
const times = join(root, out, "times.jsonl");
const requires = `import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);`;
// A file whose tests are over ends, whatever a test that failed has left open; otherwise nobody would hear of the failure.
const endsInTime = `import { after as __after } from "node:test";
if (process.env.NODE_TEST_CONTEXT !== undefined) __after(() => setTimeout(() => {
  console.error("Still open when all tests were over: " + process.getActiveResourcesInfo().join(", "));
  process.exit(1);
}, 30_000).unref());`;
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
  // Node reads the map of every file that it loads. Lines of stacks need names and places, not the sources.
  sourcesContent: false,
  banner: { js: [requires, endsInTime, ...(process.argv.includes("--times") ? [timesBanner(times)] : [])].join("\n") },
});
const files = entryPoints.map((entry) => join(out, `${entry.out}.mjs`));
const tested = await run([
  "--enable-source-maps",
  "--disable-warning=ExperimentalWarning",
  // Ten of them at once have more to collect than there are processors: threads that help each of them are in the way.
  "--single-threaded-gc",
  // Most of what tests make is forgotten at once: with more room for it there is less to look through (one file, once: 7.35 instead of 7.97 s of a processor).
  "--min-semi-space-size=16",
  // So are those that optimise: most tests are over before it pays (a tenth of the processor time). Later versions of V8 do not know the flag.
  ...(process.versions.v8.startsWith("11.3") ? ["--interrupt-budget=400000"] : []),
  "--test",
  "--test-reporter=spec",
  // More than there are processors: many wait for deaths, heartbeats and sleeping programs. More of them need more memory.
  `--test-concurrency=${Math.min(availableParallelism() + 6, 12)}`,
  ...files,
]);
printTimes(times);
if ((await checked) !== 0) console.error("Formatting, lint or types are wrong: npm run check says where.");
process.exit((await checked) || tested);
