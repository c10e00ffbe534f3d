import { deepEqual, equal } from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { long } from "../../../test/long.ts";
import { flagsFor, setFlagsFor, unsetFlagsFor } from "../../v8/flags.ts";
import { answerModule } from "../../v8/testing/answer-module.ts";
import { canKeepWasmCode, wasmCodeOf } from "../../v8/wasm-code.ts";
import { Cache } from "../cache.ts";
import { KeptCode } from "./kept-code.ts";
import { Trainer } from "./trainer.ts";

interface Used {
  readonly isMissing: boolean;
  /** What the module's function returns, and whether it was optimised before it was called. Undefined: no module. */
  readonly answer?: number;
  readonly isOptimised?: boolean;
}

/** The part of another process: code is of use where V8 has not compiled the module yet. */
function play(part: string, folder: string): Used | undefined {
  const kept = new KeptCode(new Cache(folder));
  if (part === "use") {
    const module = kept.module("clang", answerModule);
    const { isMissing } = new KeptCode(new Cache(folder));
    if (module === undefined) return { isMissing };
    const call = answerOf(module);
    setFlagsFor("call intrinsics");
    const isOptimised = new Function("f", "return %IsTurboFanFunction(f)")(call) as boolean;
    return { isMissing, isOptimised, answer: call() };
  }
  setFlagsFor("optimise the compiler");
  const module = new WebAssembly.Module(answerModule);
  answerOf(module)();
  unsetFlagsFor("optimise the compiler");
  kept.put("clang", wasmCodeOf(module) ?? new Uint8Array());
  return undefined;
}

const answerOf = (module: WebAssembly.Module): (() => number) =>
  new WebAssembly.Instance(module).exports["answer"] as () => number;

/** What the other process printed. */
function ended(child: ChildProcessWithoutNullStreams): Promise<string> {
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (said += text));
  return new Promise((resolve) => child.on("close", (code) => resolve(`${said}${code === 0 ? "" : code}`)));
}

function register(): void {
  const root = mkdtempSync(join(tmpdir(), "banyan-kept-code-"));
  after(() => rmSync(root, { recursive: true }));
  let count = 0;
  const newFolder = (): string => mkdtempSync(join(root, `${count++}-`));
  const start = (part: string, folder: string, flags: readonly string[] = []): Promise<string> => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const words = [...flagsFor("run the compiler"), ...flags, process.argv[1]!];
    return ended(
      spawn(process.execPath, words, { env: { ...env, BANYAN_TEST_PART: part, BANYAN_TEST_FOLDER: folder } }),
    );
  };
  const make = async (folder: string): Promise<void> => equal(await start("make", folder), "");
  const use = async (folder: string, flags?: readonly string[]): Promise<Used> =>
    JSON.parse(await start("use", folder, flags)) as Used;
  const entryOf = (folder: string): string => {
    const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
    const files = names.filter((name) => statSync(name).isFile());
    equal(files.length, 1, files.join(" "));
    return files[0]!;
  };
  const here = canKeepWasmCode() ? {} : { skip: "this V8 cannot write down its code" };

  describe("X9 machine code of the tools is kept", () => {
    it("another process begins with it", here, async () => {
      const folder = newFolder();
      deepEqual(await use(folder), { isMissing: true });
      await make(folder);
      deepEqual(await use(folder), { isMissing: false, isOptimised: true, answer: 42 });
    });

    it("two that make it at once do not disturb each other", { ...here, ...long }, async () => {
      const folder = newFolder();
      await Promise.all([make(folder), make(folder)]);
      deepEqual(await use(folder), { isMissing: false, isOptimised: true, answer: 42 });
    });

    it("a damaged one is none, silently, and is made again", here, async () => {
      const folder = newFolder();
      await make(folder);
      const damaged = readFileSync(entryOf(folder));
      damaged[damaged.length >> 1]! ^= 4;
      writeFileSync(entryOf(folder), damaged);
      deepEqual(await use(folder), { isMissing: true });
      await make(folder);
      deepEqual(await use(folder), { isMissing: false, isOptimised: true, answer: 42 });
    });

    it("V8 refuses one of another V8, and nobody says so", { ...here, ...long }, async () => {
      const folder = newFolder();
      await make(folder);
      // Flags count as much as versions, and can be changed.
      deepEqual(await use(folder, ["--no-wasm-lazy-validation"]), { isMissing: false });
    });

    it("without the functions of V8 there is none, and none is asked for", async () => {
      const folder = newFolder();
      // As if they were missing: their names cannot even be read.
      deepEqual(await use(folder, ["--disallow-code-generation-from-strings"]), { isMissing: false });
    });

    it("a training that breaks down is not tried again", here, async () => {
      const folder = newFolder();
      const kept = new KeptCode(new Cache(folder));
      const program = join(folder, "..", "breaks.cjs");
      writeFileSync(program, "process.exit(3);");
      const trainer = new Trainer(kept, [program]);
      await new Promise<void>((over) => trainer.start(over));
      deepEqual([trainer.isAtWork, kept.isMissing], [false, false]);
      trainer.start(() => {
        throw new Error("it was tried again");
      });
      equal(trainer.isAtWork, false);
      deepEqual(await use(folder), { isMissing: false });
    });

    it("a training that is stopped is tried again", here, async () => {
      const kept = new KeptCode(new Cache(newFolder()));
      const program = join(root, "waits.cjs");
      writeFileSync(program, 'process.stdin.on("end", () => process.exit()).resume();');
      const trainer = new Trainer(kept, [program]);
      trainer.start(() => {
        throw new Error("it ended by itself");
      });
      equal(trainer.isAtWork, true);
      trainer.stop();
      deepEqual([trainer.isAtWork, kept.isMissing], [false, true]);
    });
  });
}

const part = process.env["BANYAN_TEST_PART"];
if (part === undefined) register();
else {
  const used = play(part, process.env["BANYAN_TEST_FOLDER"]!);
  if (used !== undefined) console.log(JSON.stringify(used));
}
