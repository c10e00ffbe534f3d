/**
 * Compiles and links small programs for tests of the header and the support library, without the compile server: clang and
 * the linker run in this process, the sources are texts.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { commands, Exit, type RunOptions, runLLVM, type Tree } from "@yowasp/clang";
import { importedFunctions, wrappersSource } from "../../scripts/mpi-wrappers.mjs";
import { setFlagsFor } from "../v8/flags.ts";

setFlagsFor("run the compiler");

const libraries = "/usr/lib/wasm32-wasip1";
const include = folder("include");
const flags = [
  ...["-isystem", "include/compat", "-isystem", "include", "-Isupport"],
  ...["SIGNAL", "PROCESS_CLOCKS", "MMAN", "GETPID"].map((library) => `-D_WASI_EMULATED_${library}`),
];

function folder(path: string): Tree {
  const entries = readdirSync(path, { withFileTypes: true });
  return Object.fromEntries(
    entries.map((entry) => {
      const at = join(path, entry.name);
      return [entry.name, entry.isDirectory() ? folder(at) : readFileSync(at)];
    }),
  );
}

type Tool = "clang" | "clang++" | "wasm-ld";

/** The tool's output file `out`; its messages are those of the exception that it throws. */
async function run(tool: Tool, words: readonly string[], files: Tree): Promise<Uint8Array> {
  const said: Uint8Array[] = [];
  const options: RunOptions = { stderr: (bytes) => bytes && said.push(bytes.slice()), fetchProgress() {} };
  // Loads it, quietly; the types do not know of that.
  await (runLLVM as (words: unknown, files: Tree, options: RunOptions) => unknown)(null, {}, options);
  try {
    const made = await commands[tool]([...words, "-o", "out"], files, options);
    return made!["out"] as Uint8Array;
  } catch (error) {
    throw error instanceof Exit ? new Error(`${tool}: ${Buffer.concat(said).toString()}`) : error;
  }
}

/** An object. `name` says which language it is. */
export function compile(name: string, text: string, ...more: readonly string[]): Promise<Uint8Array> {
  const tool = name.endsWith(".cpp") ? "clang++" : "clang";
  return run(tool, ["-c", ...flags, ...more, name], { include, [name]: text });
}

let supportLibrary: Promise<[string, Uint8Array][]> | undefined;

/** As src/cc/support-library.ts builds it, but with warnings, which are errors. */
async function buildSupportLibrary(): Promise<[string, Uint8Array][]> {
  const support: Tree = { ...folder("src/cc/support"), "mpi-calls.c": wrappersSource(importedFunctions()) };
  const objects: [string, Uint8Array][] = [];
  for (const name of Object.keys(support).filter((each) => each.endsWith(".c"))) {
    const words = ["-c", "-O2", "-Wall", "-Wextra", "-Werror", ...flags, `support/${name}`];
    objects.push([`${name}.o`, await run("clang", words, { include, support })]);
  }
  return objects;
}

/** A module that imports its memory, of `sources` (name to text) and the support library. */
export async function link(sources: Readonly<Record<string, string>>): Promise<Uint8Array> {
  supportLibrary ??= buildSupportLibrary();
  const support = await supportLibrary;
  const objects: [string, Uint8Array][] = [];
  for (const [name, text] of Object.entries(sources)) objects.push([`${name}.o`, await compile(name, text, "-O1")]);
  const isCxx = Object.keys(sources).some((name) => name.endsWith(".cpp"));
  const words = [
    ...["-m", "wasm32", "--import-memory", "--shared-memory", "--no-check-features", "--max-memory=4294967296"],
    ...["--export=banyan_memory", "--export-table", "--table-base=16", "-z", "stack-size=262144"],
    ...[`-L${libraries}`, `${libraries}/crt1-command.o`, ...objects.map(([name]) => name)],
    ...["--start-lib", ...support.map(([name]) => name), "--end-lib"],
    ...["-lwasi-emulated-signal", "-lwasi-emulated-process-clocks", ...(isCxx ? ["-lc++", "-lc++abi"] : [])],
    ...["-lc", "/usr/lib/wasm32-unknown-wasip1/libclang_rt.builtins.a"],
  ];
  return run("wasm-ld", words, Object.fromEntries([...objects, ...support]));
}
