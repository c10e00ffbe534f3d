/**
 * Compiles and links small programs for tests of the header and the support library, without the compile server: clang and
 * the linker run in this process, the sources are texts.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { commands, Exit, type RunOptions, runLLVM, type Tree } from "@yowasp/clang";
import { importedFunctions, wrappersSource } from "../../../scripts/mpi-wrappers.mjs";
import { setFlagsFor } from "../../v8/flags.ts";
import { Cache } from "../cache.ts";
import { findInstallation } from "../installation.ts";
import { supportLibrary } from "../support-library.ts";

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

/** The tool's output file `out`, empty if it makes none; the messages are in the exception that it throws. */
async function run(tool: Tool, words: readonly string[], files: Tree): Promise<Uint8Array> {
  const said: Uint8Array[] = [];
  const options: RunOptions = { stderr: (bytes) => bytes && said.push(bytes.slice()), fetchProgress() {} };
  // Loads the package, quietly; its types do not declare that.
  await (runLLVM as (words: unknown, files: Tree, options: RunOptions) => unknown)(null, {}, options);
  try {
    const made = await commands[tool]([...words], files, options);
    return (made?.["out"] ?? new Uint8Array()) as Uint8Array;
  } catch (error) {
    throw error instanceof Exit ? new Error(`${tool}: ${Buffer.concat(said).toString()}`) : error;
  }
}

const toolOf = (name: string): Tool => (name.endsWith(".cpp") ? "clang++" : "clang");

/** An object. The ending of `name` determines the language. */
function compile(name: string, text: string): Promise<Uint8Array> {
  return run(toolOf(name), ["-c", ...flags, "-O1", "-o", "out", name], { include, [name]: text });
}

/** Fails with clang's messages, if there are any; no object is made. */
export async function check(name: string, text: string, ...more: readonly string[]): Promise<void> {
  await run(toolOf(name), ["-fsyntax-only", "-Werror", ...flags, ...more, name], { include, [name]: text });
}

/** Compiles the sources of the support library; the exception names those with warnings. */
export async function checkSupportLibrary(): Promise<void> {
  const support: Tree = { ...folder("src/cc/support"), "mpi-calls.c": wrappersSource(importedFunctions()) };
  const sources = Object.keys(support).filter((name) => name.endsWith(".c"));
  const words = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", ...flags, ...sources.map((name) => `support/${name}`)];
  await run("clang", words, { include, support });
}

let shipped: Promise<[string, Uint8Array][]> | undefined;

/** The objects of the build, which every `banyan cc` links. */
async function shippedSupportLibrary(): Promise<[string, Uint8Array][]> {
  const installation = findInstallation(join(process.cwd(), "dist"));
  const objects = await supportLibrary({
    cwd: "/",
    installation,
    cache: new Cache(installation.shipped),
    tools: { run: () => Promise.reject(new Error("the build has not compiled the support library")) },
    terminal: { colours: false },
  });
  return objects.map(({ name, bytes }) => [basename(name), bytes]);
}

/** A module that imports its memory, of `sources` (name to text) and the support library. */
export async function link(sources: Readonly<Record<string, string>>): Promise<Uint8Array> {
  shipped ??= shippedSupportLibrary();
  const support = await shipped;
  const objects: [string, Uint8Array][] = [];
  for (const [name, text] of Object.entries(sources)) objects.push([`${name}.o`, await compile(name, text)]);
  const isCxx = Object.keys(sources).some((name) => name.endsWith(".cpp"));
  const words = [
    ...["-m", "wasm32", "--import-memory", "--shared-memory", "--no-check-features", "--max-memory=4294967296"],
    ...["--export=banyan_memory", "--export-table", "--table-base=16", "-z", "stack-size=262144"],
    ...[`-L${libraries}`, `${libraries}/crt1-command.o`, ...objects.map(([name]) => name)],
    ...["--start-lib", ...support.map(([name]) => name), "--end-lib"],
    ...["-lwasi-emulated-signal", "-lwasi-emulated-process-clocks", ...(isCxx ? ["-lc++", "-lc++abi"] : [])],
    ...["-lc", "/usr/lib/wasm32-unknown-wasip1/libclang_rt.builtins.a", "-o", "out"],
  ];
  return run("wasm-ld", words, Object.fromEntries([...objects, ...support]));
}
