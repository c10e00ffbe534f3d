/**
 * A process that makes the machine code to be kept (`kept-code.ts`): it compiles and links the samples while V8 optimises every function that is
 * called, and writes down what V8 made. It takes half a minute, at the lowest priority, once for each version of Node and of the tools. The
 * server starts it when it has nothing to do (`trainer.ts`), with its own flags, because V8 refuses code of other flags; it ends when the
 * server does. V8 may end this process, never the server's.
 *
 * Arguments: cache folder.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { constants, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { isMainThread, Worker, workerData } from "node:worker_threads";
import { assert } from "../../core/base/assert.ts";
import { setFlagsFor, unsetFlagsFor } from "../../v8/flags.ts";
import { wasmCodeOf } from "../../v8/wasm-code.ts";
import { Cache } from "../cache.ts";
import { Clang } from "../clang.ts";
import { compileClangModules, largestOf, provideClangModules } from "../clang-modules.ts";
import { parseCommandLine } from "../command-line.ts";
import { findInstallation } from "../installation.ts";
import { Instrumenter } from "../instrument.ts";
import { runBuild } from "../run-build.ts";
import { toolStackMb } from "../worker-pool.ts";
import { KeptCode } from "./kept-code.ts";
import { LocalTools } from "./local-tools.ts";
import { samples } from "./samples.ts";

/** In a thread, so that the end of the server is noticed at once. */
async function train(cacheFolder: string): Promise<void> {
  const kept = new KeptCode(new Cache(cacheFolder));
  setFlagsFor("optimise the compiler");
  const modules = await compileClangModules();
  provideClangModules(modules);
  let binaryen: WebAssembly.Module | undefined;
  const clang = Clang.load();
  const instrumenter = Instrumenter.load((bytes) => {
    binaryen = new WebAssembly.Module(bytes);
    return binaryen;
  });
  await compileSamples(new LocalTools(clang, instrumenter));
  // What V8 writes down depends on the flags that are set.
  unsetFlagsFor("optimise the compiler");
  const codes = [
    ["binaryen", binaryen === undefined ? undefined : wasmCodeOf(binaryen)],
    ["clang", wasmCodeOf(largestOf(modules))],
  ] as const;
  for (const [tool, code] of codes) if (code !== undefined) kept.put(tool, code);
}

async function compileSamples(tools: LocalTools): Promise<void> {
  const cwd = mkdtempSync(join(tmpdir(), "banyan-training-"));
  try {
    const workshop = {
      cwd,
      installation: findInstallation(),
      // Nothing may be found there.
      cache: new Cache(join(cwd, "cache"), { shipped: findInstallation().shipped }),
      tools,
      terminal: { colours: false },
    };
    for (const { driver, name, text, flags } of samples) {
      writeFileSync(join(cwd, name), text);
      const build = parseCommandLine([...flags, name, "-lm", "-o", "sample.wasm"], driver);
      assert(build.kind === "build", "the command line of a sample is no build");
      const said: Uint8Array[] = [];
      const stderr = (bytes: Uint8Array): void => void said.push(bytes);
      const code = await runBuild(workshop, build, { stdout() {}, stderr, readStdin: () => new Uint8Array() });
      assert(code === 0, `a sample does not compile: ${Buffer.concat(said).toString()}`);
    }
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

function main(cacheFolder: string): void {
  setPriority(constants.priority.PRIORITY_LOW);
  process.stdin.on("end", () => process.exit(1)).resume();
  const worker = new Worker(__filename, {
    workerData: cacheFolder,
    resourceLimits: { stackSizeMb: toolStackMb },
  });
  worker.on("error", (error) => {
    console.error(error);
    process.exit(1);
  });
  worker.on("exit", (code) => process.exit(code));
}

if (isMainThread) main(process.argv[2]!);
else void train(workerData as string);
