// The shipped bundles, made by esbuild.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { headerPlugin } from "./header-plugin.mjs";
import { watPlugin } from "./wat-plugin.mjs";

/** Each bundle is one small file, because every rank loads it anew (measured: few modules, CommonJS). */
const bundles = [
  { entry: "src/cli/start.ts", out: "start.cjs", format: "cjs" },
  { entry: "src/cli/main.ts", out: "cli.cjs", format: "cjs" },
  // For `banyan run` alone: without the code of commands that is larger than its own.
  {
    entry: "src/cli/main.ts",
    out: "cli-run.cjs",
    format: "cjs",
    without: ["./sim.ts", "./bench.ts", "./check-determinism.ts"],
  },
  { entry: "src/cli/sim-thread.ts", out: "sim-thread.cjs", format: "cjs" },
  { entry: "src/cli/check-thread.ts", out: "check-thread.cjs", format: "cjs" },
  { entry: "src/cc/server.ts", out: "cc-server.cjs", format: "cjs" },
  { entry: "src/cc/worker.ts", out: "cc-worker.cjs", format: "cjs" },
  { entry: "src/cc/machine-code/training.ts", out: "cc-training.cjs", format: "cjs" },
  { entry: "src/cc/prepare-support.ts", out: "cc-prepare-support.cjs", format: "cjs" },
  { entry: "src/cc/compile-program.ts", out: "cc.cjs", format: "cjs" },
  { entry: "src/real/node/start.ts", out: "agent.cjs", format: "cjs" },
  { entry: "src/real/node/main.ts", out: "node.cjs", format: "cjs" },
  // Every rank has this text in its memory. esbuild leaves comments of fields where they are, and a single one with a letter beyond
  // Latin-1 makes V8 take two bytes for each letter of the whole text.
  { entry: "src/real/rank/rank.ts", out: "rank.cjs", format: "cjs", isShort: true },
  { entry: "src/real/c-rank/c-rank.ts", out: "c-rank.cjs", format: "cjs", isShort: true },
  { entry: "src/real/image/image-thread.ts", out: "image-thread.cjs", format: "cjs" },
  { entry: "src/real/node/image-store-thread.ts", out: "image-store-thread.cjs", format: "cjs" },
  { entry: "src/real/cloning/sender-thread.ts", out: "clone-sender.cjs", format: "cjs" },
  { entry: "src/real/cloning/receiver-thread.ts", out: "clone-receiver.cjs", format: "cjs" },
  { entry: "src/real/checkpoint-server/checkpoint-server.ts", out: "checkpoint-server.cjs", format: "cjs" },
  { entry: "src/real/slow-links/slow-links-thread.ts", out: "slow-links-thread.cjs", format: "cjs" },
  { entry: "src/real/image/verify-thread.ts", out: "verify-thread.cjs", format: "cjs" },
  { entry: "src/real/logging/logger.ts", out: "logger.cjs", format: "cjs" },
  { entry: "src/real/channel-memory/memory.ts", out: "memory.cjs", format: "cjs" },
  { entry: "src/real/job/launch.ts", out: "launch.cjs", format: "cjs" },
  { entry: "src/index.ts", out: "banyan.mjs", format: "esm" },
  // Modules in CommonJS have no `import.meta`.
  { entry: "src/index.ts", out: "banyan.cjs", format: "cjs", define: { "import.meta.url": "__filename" } },
];

/** Leaves out imports that are never reached. */
const withoutPlugin = (paths) => ({
  name: "without",
  setup: (building) => {
    building.onResolve({ filter: /^\.\// }, ({ path }) =>
      paths.includes(path) ? { path, external: true } : undefined,
    );
  },
});

/**
 * Writes all bundles to a folder; returns their input files. Every file is replaced by rename. `plugins`: for bundles that
 * differ from the shipped ones.
 */
export async function bundleAll(folder, plugins = []) {
  mkdirSync(folder, { recursive: true });
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  const inputs = await Promise.all(
    bundles.map(async ({ entry, out, format, without = [], define = {}, isShort = false }) => {
      const result = await build({
        entryPoints: [entry],
        bundle: true,
        platform: "node",
        target: "node20",
        format,
        packages: "bundle",
        external: ["esbuild", "koffi", "@yowasp/clang", "binaryen"],
        plugins: [...plugins, withoutPlugin(without), watPlugin, headerPlugin],
        define: { __BANYAN_VERSION__: JSON.stringify(version), ...define },
        write: false,
        sourcemap: "linked",
        metafile: true,
        outfile: join(folder, out),
        legalComments: "none",
        // Lines that a stack can still name.
        ...(isShort ? { minifyWhitespace: true, lineLimit: 160 } : {}),
      });
      for (const file of result.outputFiles) {
        writeFileSync(`${file.path}.new`, file.contents);
        renameSync(`${file.path}.new`, file.path);
      }
      return Object.keys(result.metafile.inputs);
    }),
  );
  return inputs.flat();
}
