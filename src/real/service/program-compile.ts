/** A program in C or C++ as the WebAssembly module that ranks run: compiled (src/cc), or taken as it is. */
import { closeSync, openSync, readSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { type BundleOutcome, cannotWrite } from "./program-bundle.ts";

/** What the compiler makes a program of; anything else that begins as a module does is one. */
export const sourceExtensions: readonly string[] = [".c", ".cc", ".cpp", ".cxx", ".C"];
export const typescriptExtensions: readonly string[] = [".ts", ".mts", ".js", ".mjs"];

export function languageOf(program: string): "typescript" | "c" {
  return typescriptExtensions.includes(extname(program)) ? "typescript" : "c";
}

/** The part of src/cc that is needed here; a bundle of its own, loaded only for programs in C. */
interface Compiler {
  compileProgram(paths: readonly string[]): Promise<Compiled>;
}
type Compiled =
  | { readonly kind: "compiled"; readonly wasm: string; readonly stderr: string }
  | { readonly kind: "failed"; readonly stderr: string; readonly code: number };

export interface CompileOptions {
  /** Absolute path. */
  readonly program: string;
  readonly bundle: { readonly wasm: string };
}

export async function compileProgram({ program, bundle }: CompileOptions): Promise<BundleOutcome> {
  const { module, said } = await moduleOfProgram(program);
  if (module === undefined) return { kind: "unusable", why: "it does not compile", said };
  try {
    await copyFile(module, bundle.wasm);
  } catch (error) {
    return { kind: "unusable", why: cannotWrite(bundle.wasm, error), said };
  }
  return { kind: "ready", form: "wasm", said };
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
export function isModule(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const start = Buffer.alloc(4);
    readSync(file, start, 0, 4, 0);
    return start.equals(Buffer.from("\0asm"));
  } finally {
    closeSync(file);
  }
}
