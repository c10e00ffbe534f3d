/**
 * One source through clang, unless the same was done before: what it may include is collected, the hash of all of it is the
 * name under which the result is kept.
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
  /** For `-`. */
  readonly stdin?: Uint8Array | undefined;
}

/** Before the user's own flags, which may take them back. */
const flagsBefore: readonly string[] = [
  // What every engine has, as every x86-64 has SSE2.
  "-msimd128",
  // setjmp and longjmp.
  ...["-mllvm", "-wasm-enable-sjlj"],
  // Signals, clock(), mmap and getpid are libraries here; the headers want to be told that they are linked.
  ...["-D_WASI_EMULATED_SIGNAL", "-D_WASI_EMULATED_PROCESS_CLOCKS", "-D_WASI_EMULATED_MMAN", "-D_WASI_EMULATED_GETPID"],
  // Old C, as compilers took it for thirty years: warnings, not errors.
  ...["-Wno-error=implicit-function-declaration", "-Wno-error=implicit-int", "-Wno-error=int-conversion"],
  ...["-Wno-error=incompatible-pointer-types", "-Wno-error=incompatible-function-pointer-types"],
  "-Wno-error=return-mismatch",
];

const stageFlag: Readonly<Record<Exclude<Stage, "link">, string>> = {
  ...{ dependencies: "-E", preprocess: "-E", syntax: "-fsyntax-only", assembly: "-S", object: "-c" },
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
    ...{ cwd, forced, macros, stdin },
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
    ...{ language, input: path, stdin, cwd, dependencies },
  };
  const first = await compileFiles(workshop, { ...request, files: includeClosure(closure) });
  if (first.kind === "made" || !missesFindable(first.stderr, closure)) return first;
  return compileFiles(workshop, { ...request, files: includeClosure({ ...closure, everything: true }) });
}

/** All flags that clang's driver gets for a source; `include` is our own folder of headers. */
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

/** Assembler has no use for most of our flags; nobody wants to hear of it. */
function quietly(flags: readonly string[]): string[] {
  return ["--start-no-unused-arguments", ...flags, "--end-no-unused-arguments"];
}

/** After the user's folders: a program that brings its own mpi.h gets it. */
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

/** Clang did not find a header that is there: it is included in a way that the scan does not see. */
function missesFindable(stderr: Uint8Array, closure: ClosureRequest): boolean {
  const text = Buffer.from(stderr).toString();
  const missing = [...text.matchAll(/'([^'\n]+)' file not found/g)].map(([, name]) => name!);
  return missing.some((name) => isFindable(name, closure));
}
