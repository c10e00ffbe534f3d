/**
 * The support library: the wrappers of MPI's functions and functions that the C library lacks. Each of its files is linked only
 * when something in it is used. The build compiles it (`prepare-support.ts`); where that did not happen, it is compiled at its
 * first use. Its files have the same names in every installation, so that both ways lead to the same entries of the cache.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { deserialize, serialize } from "node:v8";
import { assert } from "../core/base/assert.ts";
import { keyOf } from "./cache.ts";
import { CannotCompile } from "./client.ts";
import { parseCommandLine } from "./command-line.ts";
import { compileFiles, compileFlags } from "./compile-step.ts";
import type { CompileRequest, LinkFile, SourceFile } from "./requests.ts";
import type { Workshop } from "./workshop.ts";

/** Their folder in clang's file system. */
const folder = "/banyan-support";
const include = "/banyan-include";

/** Every link needs all of it, so it is kept as a whole too: to look for its files one by one takes three times as long. */
export async function supportLibrary(workshop: Workshop): Promise<LinkFile[]> {
  const { installation, cache } = workshop;
  const sources = filesOf(installation.support, folder);
  const files = [...sources, ...filesOf(installation.include, include)];
  const flags = flagsOfLibrary();
  const contents = files.flatMap(({ path, bytes }) => [path, bytes]);
  const key = keyOf([`the support library of ${installation.toolchain}`, flags.join(" "), ...contents]);
  const kept = cache.get(key)?.output;
  if (kept !== undefined) return deserialize(kept) as LinkFile[];
  const library = await Promise.all(
    sources
      .filter(({ path }) => path.endsWith(".c"))
      .map(async ({ path }) => ({
        name: `banyan-support/${basename(path, ".c")}.o`,
        bytes: await compile(workshop, { path, files, flags }),
      })),
  );
  cache.put(key, { output: serialize(library), stderr: new Uint8Array() });
  return library;
}

function flagsOfLibrary(): string[] {
  const build = parseCommandLine(["-c", "-O2", "-w", "source.c"], "cc");
  assert(build.kind === "build", "the command line of the support library is no build");
  return compileFlags(build, include, { colours: false });
}

interface LibrarySource {
  readonly path: string;
  /** Of the whole library, and the headers. */
  readonly files: readonly SourceFile[];
  readonly flags: readonly string[];
}

async function compile(workshop: Workshop, { path, files, flags }: LibrarySource): Promise<Uint8Array> {
  const request: CompileRequest = {
    kind: "compile",
    driver: "clang",
    flags,
    stage: "-c",
    language: "c",
    input: path,
    cwd: folder,
    // The other sources are not needed.
    files: files.filter((file) => file.path === path || !file.path.endsWith(".c")),
  };
  const made = await compileFiles(workshop, request);
  if (made.kind === "failed")
    throw new CannotCompile(`Cannot compile our own ${path}:\n${Buffer.from(made.stderr).toString().trimEnd()}`);
  return made.output;
}

function filesOf(from: string, to: string): SourceFile[] {
  return readdirSync(from, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.[ch]$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(from.length))
    .sort()
    .map((name) => ({ path: to + name, bytes: readFileSync(from + name), identity: to + name }));
}
