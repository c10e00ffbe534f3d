/**
 * The thread of a rank whose program is written in C: puts the process together, gives the WebAssembly module its imports,
 * runs it, and says how it ended. Everything happens in one go: the thread's event loop never turns. When the job is frozen
 * all ranks stop, wait until nothing is under way, and write their images; thawed ranks begin with reading them.
 */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { bind } from "../../abi/binding.ts";
import { assert } from "../../core/base/assert.ts";
import type { RecordId } from "../../core/base/brand.ts";
import type { Ending } from "../../core/service/ending.ts";
import { Descriptors } from "../../wasi/descriptors.ts";
import type { Library } from "../../wasi/ports.ts";
import { wasiImports } from "../../wasi/wasi.ts";
import { newYield } from "../process/yield.ts";
import { becomeQuiet, hashOf, type Life, type MovableLibrary, readLife, takeImage } from "./c-image.ts";
import { Exit, newLibrary } from "./c-library.ts";
import { CProgram, newStack } from "./c-program.ts";
import { createCRank } from "./c-rank-process.ts";
import { Ended, supportImports } from "./c-support.ts";
import { endingOfError } from "./error-report.ts";
import { LineWriter } from "./line-ring.ts";
import type { FromRank, RankSetup } from "./messages.ts";
import { bellOf, passGate } from "./node-words.ts";

/** Given by the loader, see `rank-code.ts`. */
declare const createCache: () => Uint8Array;

assert(parentPort !== null, "c-rank.cjs runs as a worker thread");
const port = parentPort;
const setup = workerData as RankSetup;
const { code, rank, program, words } = setup;
/** The threads of a node are one process; what a program takes for its number must tell ranks apart, in every life alike. */
const firstPid = 10_000;
const say = (message: FromRank): void => port.postMessage(message);
const lines = new LineWriter(setup.lines, bellOf(words));

const rankProcess = createCRank(
  {
    rank,
    size: setup.nodeOf.length,
    nodeOf: setup.nodeOf,
    incarnation: setup.incarnation,
    protocol: setup.protocol,
    memory: setup.memory,
    handover: setup.handover,
    tell: say,
    traceFile: setup.traceFile,
    abort(exitCode, message) {
      say({ kind: "abort", code: exitCode, message });
      return waitForTheEnd();
    },
    result() {},
  },
  setup.programMemories,
);

if (rank === 0 && code.cacheMissing !== "") say({ kind: "compiled", cache: createCache() });
passGate(words);
say({ kind: "ending", ending: run() });
process.exit(0);

function run(): Ending {
  try {
    const bytes = readFileSync(program.bundle.wasm);
    const images = { rank, ranks: setup.nodeOf.length, program: hashOf(bytes) };
    const { memory, program: binding } = rankProcess;
    const library = libraryOfRank();
    const descriptors = new Descriptors(library.files, setup.folders);
    const farewell = { barrier: -1 as RecordId };
    const life: Life = { stack: newStack(memory), farewell, clock: { nowS: 0, steadyNs: 0n }, descriptors };
    if (setup.thawFrom !== "") readLife(rankProcess, life, library, { ...images, folder: setup.thawFrom });
    // Compiled once for all threads of the process: V8 knows the bytes.
    const module = new WebAssembly.Module(bytes);
    const cProgram = new CProgram(module, importsOf(module, library, descriptors), binding, memory, life.stack);
    say({ kind: "runs" });
    let isOver =
      setup.thawFrom === "" ? ended(() => cProgram.start()) : farewell.barrier >= 0 || ended(() => cProgram.goOn());
    for (;;) {
      const leaving = isOver ? rankProcess.leave(farewell) : ({ kind: "stopped" } as const);
      if (leaving.kind === "left") return { kind: "returned" };
      if (leaving.kind === "unfinished") return leaving;
      say({ kind: "stopped" });
      isOver = !becomeQuiet(rankProcess, life);
      if (isOver) continue;
      rankProcess.handOver();
      takeImage(rankProcess, life, library, { ...images, folder: setup.freezeTo });
      rankProcess.close();
      return { kind: "frozen" };
    }
  } catch (error) {
    rankProcess.close();
    return endingOf(error);
  }
}

/** True when the program has ended, false when it has stopped inside an MPI call. `exit(0)` is an end like any other. */
function ended(run: () => boolean): boolean {
  try {
    return run();
  } catch (error) {
    if (error instanceof Exit && error.code === 0) return true;
    throw error;
  }
}

function libraryOfRank(): MovableLibrary {
  const environment = Object.entries(process.env).map(([name, value]) => `${name}=${value}`);
  return newLibrary({
    args: [program.path, ...program.args],
    environment,
    rank,
    lines,
    port,
    yield: newYield(),
  });
}

function importsOf(module: WebAssembly.Module, library: Library, descriptors: Descriptors): WebAssembly.Imports {
  const { memory, program: binding } = rankProcess;
  const names = WebAssembly.Module.imports(module);
  const of = (from: string) => names.filter((each) => each.module === from).map((each) => each.name);
  return {
    env: { memory: memory.memory },
    mpi: bind(binding, of("mpi")),
    wasi_snapshot_preview1: wasiImports({ library, memory: memory.bytes, descriptors }),
    banyan: supportImports({ memory: memory.bytes, pid: firstPid + rank, hostName: hostname() }),
  };
}

function endingOf(error: unknown): Ending {
  if (error instanceof Exit) return { kind: "exited", code: error.code };
  return error instanceof Ended ? error.ending : endingOfError(error);
}

/** The node will terminate this thread; nothing of the program may run until then. */
function waitForTheEnd(): never {
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (;;) Atomics.wait(never, 0, 0, 1000);
}
