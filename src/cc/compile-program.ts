/**
 * For `banyan run solver.c`: sources to a module that ranks can load. Nothing is written beside the sources; the module is a
 * file of the cache, named by the hash of its bytes. When no source and no header has changed since the last time, the compiler
 * does not run: the files are read, hashed and looked up.
 */
import { isAbsolute } from "node:path";
import { assert } from "../core/base/assert.ts";
import { describeSystemError } from "../core/base/system-error.ts";
import { type Cache, cacheFolder } from "./cache.ts";
import { CannotCompile } from "./client.ts";
import { parseCommandLine } from "./command-line.ts";
import { compileSource } from "./compile-step.ts";
import { describeDiskTrouble, isDiskTrouble } from "./disk-trouble.ts";
import { linkInputs } from "./link-inputs.ts";
import { linkProgram } from "./link-step.ts";
import { openWorkshop, type WorkshopOptions } from "./open-workshop.ts";
import type { SourceDisk } from "./source-disk.ts";
import { supportLibrary } from "./support-library.ts";
import type { Made } from "./workshop.ts";

interface ProgramCompileOptions extends WorkshopOptions {
  /** Options as for `banyan cc`. Optimised unless they say otherwise. */
  readonly flags?: readonly string[];
  /** The disk with sources and headers, if not the whole disk: it must contain Banyan's own folders, which are passed to it. */
  readonly disk?: (own: readonly string[]) => SourceDisk;
}

type CompiledProgram =
  | {
      readonly kind: "compiled";
      /** The path of the module; it stays there until the cache needs the room. */
      readonly wasm: string;
      /** Messages of clang and the linker. */
      readonly stderr: string;
      /** True when nothing had to be compiled. */
      readonly kept: boolean;
    }
  /** Messages as clang prints them, and its exit code; or one line that says why nothing can be compiled. */
  | { readonly kind: "failed"; readonly stderr: string; readonly code: number };

/** The default for a user who just runs a source. */
const flagsDefault: readonly string[] = ["-O2", "-msimd128"];

/** Is this file a source, to be compiled by `banyan run`? */
function isProgramSource(path: string): boolean {
  return /\.(c|cc|cp|cxx|cpp|CPP|c\+\+|C)$/.test(path);
}

/** Throws only the signal's reason, when the request is cancelled. */
export async function compileProgram(
  paths: readonly string[],
  options: ProgramCompileOptions = {},
): Promise<CompiledProgram> {
  try {
    return await compileAndLink(paths, options);
  } catch (error) {
    if (error instanceof CannotCompile) return { kind: "failed", stderr: `banyan: ${error.message}\n`, code: 1 };
    if (!isDiskTrouble(error)) throw error;
    const text = describeDiskTrouble(error, cacheFolder(options.environment ?? process.env));
    return { kind: "failed", stderr: `banyan: ${text}\n`, code: 1 };
  }
}

async function compileAndLink(paths: readonly string[], options: ProgramCompileOptions): Promise<CompiledProgram> {
  const { flags = flagsDefault } = options;
  const driver = paths.some((path) => isProgramSource(path) && !path.endsWith(".c")) ? "c++" : "cc";
  const opened = openWorkshop(options);
  // Nothing that is made depends on the folder then: the same program is known again, wherever it is started from.
  const isForAnyFolder = flags === flagsDefault && paths.every((path) => isAbsolute(path));
  const cwd = isForAnyFolder ? "/" : opened.cwd;
  const workshop = { ...opened, cwd, disk: options.disk?.([opened.installation.include]) };
  const build = parseCommandLine([...flags, ...paths], driver);
  if (build.kind === "refused") return { kind: "failed", stderr: `banyan: ${build.message}\n`, code: 1 };
  assert(build.kind === "build" && build.stage === "link", `${flags.join(" ")} does not make a program`);
  const support = supportLibrary(workshop);
  support.catch(() => {});
  const sources = build.inputs.filter((input) => input.kind === "source");
  // A program in C++ may have parts in C, which stay C here: the user did not type c++.
  const results = await Promise.all(
    sources.map((source) =>
      compileSource(workshop, build, source.path.endsWith(".c") ? { ...source, language: "c" } : source),
    ),
  );
  const compiled = new Map(sources.map((source, at) => [source, results[at]!]));
  const failed = results.find((made) => made.kind === "failed");
  if (failed?.kind === "failed") return { kind: "failed", stderr: saidBy(results), code: failed.code };
  const inputs = linkInputs(build, compiled, workshop.cwd);
  const linked = await linkProgram(workshop, build, { inputs, support: await support });
  const stderr = saidBy([...results, linked]);
  if (linked.kind === "failed") return { kind: "failed", stderr, code: linked.code };
  return { kind: "compiled", wasm: moduleIn(workshop.cache, linked.output), stderr, kept: linked.kept };
}

function moduleIn(cache: Cache, module: Uint8Array): string {
  try {
    return cache.module(module);
  } catch (error) {
    if (!isDiskTrouble(error)) throw error;
    const why = describeSystemError(error);
    throw new CannotCompile(`Cannot keep the program in ${cache.folder}: ${why}; BANYAN_CACHE may name another folder`);
  }
}

function saidBy(results: readonly Made[]): string {
  return results.map(({ stderr }) => Buffer.from(stderr).toString()).join("");
}
