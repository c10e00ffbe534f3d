/** Everything that the module of a program in C imports. */
import { wasiCapturePoints } from "../core/base/capture-points.ts";
import type { Terminals } from "../core/base/terminals.ts";
import type { Descriptors } from "../wasi/descriptors.ts";
import type { Library, Pause } from "../wasi/ports.ts";
import { wasiImports } from "../wasi/wasi.ts";
import { bind, capturePoint } from "./binding.ts";
import type { CMemory } from "./c-program.ts";
import { supportImports } from "./c-support.ts";
import { ProgramFiles } from "./files/program-files.ts";
import type { Program } from "./program.ts";
import { choosingClock, choosingInput } from "./replay/library-choices.ts";

interface ImportOptions {
  readonly rank: number;
  readonly memory: CMemory;
  readonly program: Program;
  readonly library: Library;
  readonly descriptors: Descriptors;
  readonly pause: Pause;
  readonly hostName: string;
  readonly terminals: Terminals;
  signalName(signal: number): string | undefined;
}

/** Ranks may be threads of one process; what a program takes for its number must tell them apart, in every life alike. */
const firstPid = 10_000;

export function cImportsOf(module: WebAssembly.Module, options: ImportOptions) {
  const { rank, memory, program, library, descriptors, pause, hostName, terminals, signalName } = options;
  const names = WebAssembly.Module.imports(module).filter((each) => each.module === "mpi");
  program.disk = new ProgramFiles({ files: library.files, descriptors, run: library.run });
  const { choices, clocks } = program.operations;
  const shown = choices === null ? library : choosingInput(library, choices);
  const wasi = wasiImports({ library: shown, memory: memory.bytes, descriptors, pause });
  if (clocks !== null) {
    wasi["clock_time_get"] = choosingClock(wasi["clock_time_get"]!, library, memory.bytes, clocks);
  }
  for (const name of wasiCapturePoints) wasi[name] = capturePoint(program, wasi[name]!);
  return {
    env: { memory: memory.memory },
    mpi: bind(
      program,
      names.map(({ name }) => name),
    ),
    wasi_snapshot_preview1: wasi,
    banyan: supportImports({
      memory: memory.bytes,
      pid: firstPid + rank,
      hostName,
      descriptors,
      terminals,
      signalName,
    }),
  };
}
