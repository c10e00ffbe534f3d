/**
 * One source through clang, unless the result is in the cache: all files that the source may include are collected, and the
 * hash of all of them is the name of the result.
 */
import { keyOf } from "./cache.ts";
import type { Build, Stage } from "./command-line.ts";
import { type ClosureRequest, includeClosure, isFindable } from "./include-closure.ts";
import { type CompileRequest, type DependencyRequest, driverName } from "./requests.ts";
import { runStep } from "./run-step.ts";
import type { Made, Terminal, Workshop } from "./workshop.ts";

export interface SourceInput {
  readonly path: string;
  readonly language: string;
  /** The text of `-`. */
  readonly stdin?: Uint8Array | undefined;
}

/** In front of the user's own flags, which may override them. */
const flagsBefore: readonly string[] = [
  // Features that every engine has, as every x86-64 has SSE2.
  "-msimd128",
  // setjmp and longjmp.
  ...["-mllvm", "-wasm-enable-sjlj"],
  // Loops with a sum that must keep its order are vectorised but for the sum, as gcc does (ADR 72); clang's cost model for WebAssembly leaves them out.
  ...["-mllvm", "-force-ordered-reductions"],
  // Signals, clock(), mmap and getpid are libraries here; the headers need to know that they are linked.
  ...["-D_WASI_EMULATED_SIGNAL", "-D_WASI_EMULATED_PROCESS_CLOCKS", "-D_WASI_EMULATED_MMAN", "-D_WASI_EMULATED_GETPID"],
  // Old C, as compilers accepted it for thirty years: warnings, not errors.
  ...["-Wno-error=implicit-function-declaration", "-Wno-error=implicit-int", "-Wno-error=int-conversion"],
  ...["-Wno-error=incompatible-pointer-types", "-Wno-error=incompatible-function-pointer-types"],
  "-Wno-error=return-mismatch",
];

const stageFlag: Readonly<Record<Exclude<Stage, "link">, string>> = {
  dependencies: "-E",
  preprocess: "-E",
  syntax: "-fsyntax-only",
  assembly: "-S",
  object: "-c",
};

export async function compileSource(
  workshop: Workshop,
  build: Build,
  { path, language, stdin }: SourceInput,
  dependencies?: DependencyRequest,
): Promise<Made> {
  const { cwd, installation, terminal } = workshop;
  const { folders, forced, macros } = build;
  const closure: ClosureRequest = {
    cwd,
    forced,
    macros,
    stdin,
    sources: path === "-" ? [] : [path],
    folders: { quote: folders.quote, all: [...folders.all, ...ownFolders(installation.include)] },
    whole: [`${installation.include}/compat`],
    disk: workshop.disk,
  };
  const request: Omit<CompileRequest, "files"> = {
    kind: "compile",
    driver: driverName(build.driver),
    flags: compileFlags(build, installation.include, terminal),
    stage: stageFlag[build.stage === "link" ? "object" : build.stage],
    language,
    input: path,
    stdin,
    cwd,
    dependencies,
  };
  const first = await compileFiles(workshop, { ...request, files: includeClosure(closure) });
  if (first.kind === "made" || !missesFindable(first.stderr, closure)) return first;
  return compileFiles(workshop, { ...request, files: includeClosure({ ...closure, everything: true }) });
}

/** All flags of clang's driver for a source; `include` is Banyan's folder of headers. */
export function compileFlags(build: Build, include: string, terminal: Terminal): string[] {
  return [
    ...quietly([
      ...flagsBefore,
      terminal.colours ? "-fcolor-diagnostics" : "-fno-color-diagnostics",
      ...(terminal.columns === undefined ? [] : [`-fmessage-length=${terminal.columns}`]),
    ]),
    ...(build.verbose ? ["-v"] : []),
    ...build.flags,
    ...quietly(ownFolders(include).flatMap((folder) => ["-isystem", folder])),
  ];
}

/** Assembler has no use for most of Banyan's flags; a warning about that would help no user. */
function quietly(flags: readonly string[]): string[] {
  return ["--start-no-unused-arguments", ...flags, "--end-no-unused-arguments"];
}

/** Behind the user's folders: a program with its own mpi.h gets that one. */
function ownFolders(include: string): string[] {
  return [`${include}/compat`, include];
}

/** The same when the files are known. */
export function compileFiles(workshop: Workshop, request: CompileRequest): Promise<Made> {
  const { files, stdin, ...rest } = request;
  const identities = new Map<string, number>();
  const key = keyOf([
    workshop.installation.toolchain,
    JSON.stringify(rest),
    stdin ?? "",
    ...files.flatMap(({ path, bytes, identity }) => {
      if (!identities.has(identity)) identities.set(identity, identities.size);
      return [path, `${identities.get(identity)!}`, bytes];
    }),
  ]);
  return runStep(workshop, key, request);
}

/** Clang did not find a header that exists: the scan missed the way in which it is included. */
function missesFindable(stderr: Uint8Array, closure: ClosureRequest): boolean {
  const text = Buffer.from(stderr).toString();
  const missing = [...text.matchAll(/'([^'\n]+)' file not found/g)].map(([, name]) => name!);
  return missing.some((name) => isFindable(name, closure));
}
