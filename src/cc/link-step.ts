/**
 * Objects, archives and Banyan's support library to one module, as docs/adr/0005 prescribes; then Asyncify. Libraries are
 * looked up here, because the linker sees only the files it is given; it has those of the toolchain itself.
 */

import { capturePoints } from "../core/base/capture-points.ts";
import { lowMemoryBytes } from "../core/base/low-memory.ts";
import { keyOf } from "./cache.ts";
import type { Build } from "./command-line.ts";
import { largestOnly } from "./common-symbols.ts";
import { binaryenVersion, clangVersion, contractVersion } from "./installation.ts";
import type { LinkFile, LinkRequest, ProgramFinish } from "./requests.ts";
import { runStep } from "./run-step.ts";
import { libraryNames } from "./steady-functions.ts";
import type { Made, Workshop } from "./workshop.ts";

/** The inputs, in order: contents under a name, or an option of the linker. */
export type LinkInput =
  | { readonly kind: "file"; readonly file: LinkFile }
  | { readonly kind: "word"; readonly word: string };

const libraryFolder = "/usr/lib/wasm32-wasip1";
const builtins = "/usr/lib/wasm32-unknown-wasip1/libclang_rt.builtins.a";
/** The reach of 32-bit addresses; the runtime gives less. */
const memoryBytesMax = 2 ** 32;

export function linkProgram(
  workshop: Workshop,
  build: Build,
  { inputs, support }: { readonly inputs: readonly LinkInput[]; readonly support: readonly LinkFile[] },
): Promise<Made> {
  const named = nameApart(inputs);
  const objects = named.flatMap((input) => (input.kind === "file" ? [input.file] : []));
  const lines = !build.link.strip && objects.some(hasLines);
  const words = [
    ...(workshop.terminal.colours ? ["--color-diagnostics"] : []),
    ...linkWords(build, {
      inputs: named.map((input) => (input.kind === "file" ? input.file.name : input.word)),
      support: support.map(({ name }) => name),
      longDouble: objects.some(usesLongDouble),
      lines,
    }),
  ];
  const request: LinkRequest = {
    kind: "link",
    words,
    files: [...largestOnly(objects), ...support],
    finish: build.link.relocatable ? undefined : finishOf(build, objects, lines ? workshop.cwd : ""),
  };
  const key = keyOf([
    workshop.installation.toolchain,
    JSON.stringify({ words, finish: request.finish }),
    ...request.files.flatMap(({ name, bytes }) => [name, bytes]),
  ]);
  return runStep(workshop, key, request);
}

interface LinkNames {
  readonly inputs: readonly string[];
  readonly support: readonly string[];
  /** If some object computes in `long double`, printf must support it: a library of its own, because it is large. */
  readonly longDouble: boolean;
  /** Some object was compiled with `-g`. */
  readonly lines: boolean;
}

/** The command line of wasm-ld. */
export function linkWords({ link }: Build, { inputs, support, longDouble, lines }: LinkNames): string[] {
  const { flags, stackBytes, withStart, withLibraries, withCxx, relocatable } = link;
  if (relocatable) return ["-m", "wasm32", "-r", ...inputs, ...flags];
  return [
    // Names of functions stay for the next step (signature-adapters.ts), which removes them when they are not wanted.
    ...["-m", "wasm32", "--error-limit=0"],
    ...(lines ? [] : ["--strip-debug"]),
    ...["--import-memory", "--shared-memory", "--no-check-features", `--max-memory=${memoryBytesMax}`],
    // The stack is first in memory; below its end nothing may lie (core/base/low-memory.ts).
    ...[
      "--stack-first",
      "--export=__stack_pointer",
      "--export-table",
      "-z",
      `stack-size=${stackBytes + lowMemoryBytes}`,
    ],
    // MPI has small numbers for predefined functions (MPI_COMM_DUP_FN); no real function may have them.
    "--table-base=16",
    ...(withLibraries ? ["--export=banyan_memory"] : []),
    ...flags,
    `-L${libraryFolder}`,
    ...(withStart ? [`${libraryFolder}/crt1-command.o`] : []),
    ...inputs,
    ...(withLibraries
      ? [
          ...["--start-lib", ...support, "--end-lib"],
          ...["-lsetjmp", "-lwasi-emulated-signal", "-lwasi-emulated-process-clocks", "-lwasi-emulated-mman"],
          "-lwasi-emulated-getpid",
          ...(withCxx ? ["-lc++", "-lc++abi"] : []),
          ...(longDouble ? ["-lc-printscan-long-double"] : []),
          ...["-lc", builtins],
        ]
      : []),
  ];
}

function finishOf({ link }: Build, objects: readonly LinkFile[], sourceRoot: string): ProgramFinish {
  const section = {
    contract: contractVersion,
    clang: clangVersion,
    binaryen: binaryenVersion,
    stackBytes: link.stackBytes,
    ...(link.capture ? {} : { capture: false }),
  };
  return {
    capturePoints: link.capture ? capturePoints : [],
    libraryNames: libraryNames(objects),
    section: JSON.stringify(section),
    names: !link.strip,
    checksNull: link.checksNull,
    sourceRoot,
  };
}

/** Functions that clang calls to compute with 128 bits; only code with `long double` does. */
const longDoubleCalls = [
  "extenddftf2",
  "extendsftf2",
  "trunctfdf2",
  "floatsitf",
  "floatditf",
  "addtf3",
  "multf3",
  "divtf3",
];

function hasLines({ bytes }: LinkFile): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(".debug_line");
}

function usesLongDouble({ bytes }: LinkFile): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return longDoubleCalls.some((call) => buffer.includes(`__${call}`));
}

/**
 * The linker's file system ignores `..` and has its own `/usr`: names that would be mistaken for others are changed, as little
 * as possible, because the linker's messages show them.
 */
function nameApart(inputs: readonly LinkInput[]): LinkInput[] {
  const taken = new Set<string>();
  return inputs.map((input) => {
    if (input.kind === "word") return input;
    let { name } = input.file;
    if (/^\/?usr\//.test(plainName(name))) name = `host/${plainName(name)}`;
    for (let count = 2; taken.has(plainName(name)); count++) name = `(${count})/${input.file.name}`;
    taken.add(plainName(name));
    return { kind: "file", file: { ...input.file, name } };
  });
}

function plainName(name: string): string {
  return name
    .split("/")
    .filter((segment) => segment !== "" && segment !== "." && segment !== "..")
    .join("/");
}
