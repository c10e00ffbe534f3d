/** A program in C or C++ as the WebAssembly module that ranks run: compiled (src/cc), or taken as it is. */
import { closeSync, openSync, readSync, realpathSync } from "node:fs";
import { chmod, copyFile, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { GivenFolders } from "../../disk/given-folders.ts";
import type { Folder } from "../../messages/program-place.ts";
import { sourcesIn } from "./given-sources.ts";
import { type BundleOutcome, cannotWrite } from "./program-bundle.ts";

/** What the compiler makes a program of; anything else that begins as a module does is one. */
export const sourceExtensions: readonly string[] = [".c", ".cc", ".cpp", ".cxx", ".C"];
export const typescriptExtensions: readonly string[] = [".ts", ".mts", ".js", ".mjs"];

export function languageOf(program: string): "typescript" | "c" {
  // A job that goes on has its program as a bundle, perhaps as a script.
  return [...typescriptExtensions, ".cjs"].includes(extname(program)) ? "typescript" : "c";
}

/** The part of src/cc that is needed here; a bundle of its own, loaded only for programs in C. */
interface Compiler {
  compileProgram(paths: readonly string[], options?: CompilerOptions): Promise<Compiled>;
}
interface CompilerOptions {
  /** What it may read; `own` are folders of the compiler. */
  disk(own: readonly string[]): ReturnType<typeof sourcesIn>;
}
type Compiled =
  | { readonly kind: "compiled"; readonly wasm: string; readonly stderr: string }
  | { readonly kind: "failed"; readonly stderr: string; readonly code: number };

interface CompileOptions {
  /** Absolute path. */
  readonly program: string;
  readonly bundle: { readonly wasm: string };
}

export async function compileAsBundle({ program, bundle }: CompileOptions): Promise<BundleOutcome> {
  const { module, said } = await moduleOfProgram(program);
  if (module === undefined) return { kind: "unusable", why: "it does not compile", said };
  try {
    await copyFile(module, bundle.wasm);
    // A frozen job has this very file, and others may not have been able to write to it.
    await chmod(bundle.wasm, 0o600);
  } catch (error) {
    return { kind: "unusable", why: cannotWrite(bundle.wasm, error), said };
  }
  return { kind: "ready", form: "wasm", packages: [], said };
}

/** Compiles a program that another one has asked for: files outside those folders are not read. */
export async function compileGivenProgram(
  { program, bundle }: CompileOptions,
  given: readonly Folder[],
): Promise<BundleOutcome> {
  const opened: GivenFolders[] = [];
  const disk = (own: readonly string[]) => {
    const folders = new GivenFolders([...given, ...own.map((path) => ({ name: path, path: realpathSync(path) }))]);
    opened.push(folders);
    return sourcesIn(folders);
  };
  try {
    if (!sourceExtensions.includes(extname(program))) {
      const module = disk([]).read(program);
      if (module === undefined) return { kind: "unusable", why: "it cannot be read" };
      await writeFile(bundle.wasm, module.bytes);
      return { kind: "ready", form: "wasm", packages: [] };
    }
    const compiler = require(join(__dirname, "cc.cjs")) as Compiler;
    const outcome = await compiler.compileProgram([program], { disk });
    const said = outcome.stderr;
    if (outcome.kind === "failed") return { kind: "unusable", why: "it does not compile", said };
    await copyFile(outcome.wasm, bundle.wasm);
    return { kind: "ready", form: "wasm", packages: [], said };
  } finally {
    for (const folders of opened) folders.close();
  }
}

/** Where the module of a program is; undefined: it does not compile. `said`: what the compiler printed. */
export async function moduleOfProgram(
  program: string,
): Promise<{ readonly module: string | undefined; readonly said: string }> {
  if (!sourceExtensions.includes(extname(program))) return { module: program, said: "" };
  const compiler = require(join(__dirname, "cc.cjs")) as Compiler;
  const outcome = await compiler.compileProgram([program]);
  return { module: outcome.kind === "failed" ? undefined : outcome.wasm, said: outcome.stderr };
}

/** Does the file begin as WebAssembly modules do? */
export const isModule = (path: string): boolean => whenOpen(path, beginsAsModule);

/** Does the file begin as programs for the machine itself do (ELF)? */
export const isNative = (path: string): boolean => whenOpen(path, (descriptor) => beginsWith(descriptor, "\x7fELF"));

function whenOpen(path: string, look: (descriptor: number) => boolean): boolean {
  const file = openSync(path, "r");
  try {
    return look(file);
  } finally {
    closeSync(file);
  }
}

/** The language of a file that is open. */
export const beginsAsModule = (descriptor: number): boolean => beginsWith(descriptor, "\0asm");

function beginsWith(descriptor: number, text: string): boolean {
  const start = Buffer.alloc(text.length);
  readSync(descriptor, start, 0, text.length, 0);
  return start.equals(Buffer.from(text, "latin1"));
}
