/** A Banyan with one protocol more: the shipped sources with the registry of the tests, bundled into a folder of its own. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin } from "esbuild";
import type { launch, thaw } from "../../src/real/job/launch.ts";

/** Lists that ship, and those of the tests that stand in for them. */
const lists = new Map([
  [resolve("src/core/ft/registry.ts"), resolve("test/protocols/registry.ts")],
  [resolve("src/real/protocol-parts/job-parts.ts"), resolve("test/protocols/job-parts.ts")],
  [resolve("src/real/protocol-parts/node-parts.ts"), resolve("test/protocols/node-parts.ts")],
]);

const registryOfTests: Plugin = {
  name: "registry of the tests",
  setup(build) {
    build.onResolve({ filter: /\/(registry|job-parts|node-parts)\.ts$/ }, ({ path, resolveDir, importer }) => {
      const ours = lists.get(resolve(resolveDir, path));
      return ours === undefined || ours === importer ? undefined : { path: ours };
    });
  },
};

export interface ProofBuild {
  /** Its `bin/banyan.js`. */
  readonly launcher: string;
  readonly launch: typeof launch;
  readonly thaw: typeof thaw;
}

/** Packages are found from below `node_modules`; the folder is removed with this process. */
export async function buildProof(): Promise<ProofBuild> {
  const folder = resolve(mkdtempSync(join("node_modules", ".proof-")));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const dist = join(folder, "dist");
  // As the build does it: not a part of the bundle that this test is in.
  const bundles = pathToFileURL(resolve("scripts/bundles.mjs")).href;
  const { bundleAll } = (await import(bundles)) as {
    bundleAll(folder: string, plugins: readonly Plugin[]): Promise<string[]>;
  };
  await bundleAll(dist, [registryOfTests]);
  // What is no bundle is as shipped.
  for (const name of ["cc", "lz4_wasm_nodejs_bg.wasm"]) symlinkSync(resolve("dist", name), join(dist, name));
  symlinkSync(resolve("include"), join(folder, "include"));
  mkdirSync(join(folder, "bin"));
  copyFileSync("bin/banyan.js", join(folder, "bin/banyan.cjs"));
  const service = createRequire(join(dist, "launch.cjs"))("./launch.cjs") as Pick<ProofBuild, "launch" | "thaw">;
  return { launcher: join(folder, "bin/banyan.cjs"), launch: service.launch, thaw: service.thaw };
}
