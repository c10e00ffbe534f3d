import { deepEqual, equal } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { Cache, cacheFolder } from "../../cc/cache.ts";
import { flagsFor, setFlagsFor } from "../../v8/flags.ts";
import { answerModule } from "../../v8/testing/answer-module.ts";
import { canKeepWasmCode } from "../../v8/wasm-code.ts";
import { ModuleCode } from "./module-code.ts";
import { ProgramCode } from "./program-code.ts";

interface Run {
  /** V8 had the program's code before the program was compiled. */
  readonly isFound: boolean;
  /** And that of what ranks compile besides it. */
  readonly areFound: boolean;
  readonly answers: readonly number[];
}

/** The program with a custom section (0), which nobody reads: another module. */
const besides = [1, 2].map((name) => Uint8Array.of(...answerModule, 0, 2, 1, name));

/** A node: code is of use in a process where V8 has not compiled the program yet. */
function play(): Run {
  const { BANYAN_TEST_PROGRAM: file = "" } = process.env;
  const purposes = ["run C programs", "compile C programs ahead"] as const;
  for (const purpose of purposes) setFlagsFor(purpose);
  const flags = purposes.flatMap((purpose) => flagsFor(purpose));
  const found = ProgramCode.find(process.env, { file, modules: [], flags });
  const code = ProgramCode.canBeKept() ? found : null;
  const others = new ModuleCode(new Cache(`${cacheFolder(process.env)}/cc`), "others", besides, flags);
  const [isFound, areFound] = [code?.load() === true, code !== null && others.load()];
  const modules = [readFileSync(file), ...besides].map((bytes) => new WebAssembly.Module(bytes));
  code?.keep();
  if (code !== null) others.keep();
  const answerOf = (module: WebAssembly.Module): number => {
    const { exports } = new WebAssembly.Instance(module);
    return (exports["answer"] as () => number)();
  };
  return { isFound, areFound, answers: modules.map(answerOf) };
}

function register(): void {
  const root = mkdtempSync(join(tmpdir(), "banyan-program-code-"));
  after(() => rmSync(root, { recursive: true }));
  const program = join(root, "answer.wasm");
  writeFileSync(program, answerModule);
  let count = 0;
  const newFolder = (): string => mkdtempSync(join(root, `${count++}-`));
  const run = (folder: string, flags: readonly string[] = []): Run => {
    const { NODE_TEST_CONTEXT: _, ...others } = process.env;
    const env = { ...others, BANYAN_TEST_PROGRAM: program, BANYAN_CACHE: folder };
    const { stdout, stderr } = spawnSync(process.execPath, [...flags, process.argv[1]!], { env, encoding: "utf8" });
    equal(stderr, "");
    return JSON.parse(stdout) as Run;
  };
  const entries = (folder: string): string[] =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .map((name) => join(folder, name))
      .filter((name) => statSync(name).isFile());
  const here = canKeepWasmCode() ? {} : { skip: "this V8 cannot write down its code" };
  const first: Run = { isFound: false, areFound: false, answers: [42, 42, 42] };
  const later: Run = { isFound: true, areFound: true, answers: [42, 42, 42] };

  describe("X9 machine code of programs is kept", () => {
    it("the first node makes it, those of later runs have it", here, () => {
      const folder = newFolder();
      deepEqual([run(folder), run(folder)], [first, later]);
      equal(entries(folder).length, 2);
    });

    it("a damaged one is none, silently, and is made again", here, () => {
      const folder = newFolder();
      run(folder);
      for (const entry of entries(folder)) {
        const damaged = readFileSync(entry);
        damaged[damaged.length >> 1]! ^= 4;
        writeFileSync(entry, damaged);
      }
      deepEqual([run(folder), run(folder)], [first, later]);
    });

    it("one that V8 refuses is made again", here, () => {
      const folder = newFolder();
      run(folder);
      // As if it were another V8's: flags count as much as versions, and can be changed. The name of the entry is the same.
      const flags = ["--no-wasm-lazy-validation", "--wasm-tiering-budget=1"];
      deepEqual([run(folder, flags), run(folder, flags)], [first, later]);
    });

    it("where others can write none is kept, and none is used", here, () => {
      const folder = newFolder();
      run(folder);
      spawnSync("chmod", ["777", join(folder, "cc")]);
      deepEqual(run(folder), first);
    });

    it("without the functions of V8 a program is compiled as ever", () => {
      const folder = newFolder();
      deepEqual(run(folder, ["--disallow-code-generation-from-strings"]), first);
      deepEqual(entries(folder), []);
    });
  });
}

if (process.env["BANYAN_TEST_PROGRAM"] === undefined) register();
else console.log(JSON.stringify(play()));
