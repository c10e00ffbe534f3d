// `npm test`: build what is stale, check, then run every *.test.ts under src/ and test/.
//   npm test                    everything
//   npm test -- core/p2p        only test files whose path contains the words given
//   npm test -- --no-check …    without lint and types, while working
//   npm run test:long           those too that take long (test/long.ts)
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
process.chdir(root);
const run = (args) => {
  const { status, signal } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (status !== 0) process.exit(signal === null ? (status ?? 1) : 1);
};

if (process.argv.includes("--long")) process.env.BANYAN_LONG_TESTS = "1";
const words = process.argv.slice(2).filter((word) => !word.startsWith("--"));
run(["scripts/build.mjs", "--if-stale"]);
if (!process.argv.includes("--no-check")) run(["scripts/check.mjs"]);

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

// Those of whole jobs take longest, and begin first: then nobody waits for the last of them alone.
const programs = sources.filter((file) => !file.startsWith("src"));
// Tests of pure code share a process with others of their folder: to start one for each file takes longer than most of them.
// Those that measure have one for themselves.
const isPure = (file) => file.startsWith(join("src", "core")) && !file.includes("-speed");
const folders = new Map();
for (const file of sources.filter(isPure)) folders.set(dirname(file), [...(folders.get(dirname(file)) ?? []), file]);
const others = sources.filter((file) => file.startsWith("src") && !isPure(file));

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
const entryPoints = [...programs, ...others, ...together];
await build({
  entryPoints,
  outbase: ".",
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
const files = entryPoints.map((file) => join(out, file.replace(/\.ts$/, ".mjs")));
const { status } = spawnSync(
  process.execPath,
  [
    "--enable-source-maps",
    "--disable-warning=ExperimentalWarning",
    "--test",
    "--test-reporter=spec",
    "--test-concurrency=2",
    ...files,
  ],
  { stdio: "inherit" },
);
process.exit(status ?? 1);
