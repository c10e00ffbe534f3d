/**
 * The thread of a rank whose program is written in C: puts the process together, gives the WebAssembly module its imports,
 * runs it, and says how it ended. Everything happens in one go: the thread's event loop never turns. When the job is frozen
 * all ranks stop, wait until nothing is under way, and write their images; thawed ranks begin with reading them.
 */
import { readFileSync } from "node:fs";
import { constants, hostname } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { importsOf } from "../../abi/c-imports.ts";
import { CProgram, newStack } from "../../abi/c-program.ts";
import { Ended } from "../../abi/ended.ts";
import { assert } from "../../core/base/assert.ts";
import type { Ending } from "../../core/service/ending.ts";
import { Descriptors } from "../../wasi/descriptors.ts";
import { newYield } from "../process/yield.ts";
import { becomeQuiet, hashOf, type Life, type MovableLibrary, readLife, takeImage } from "./c-image.ts";
import { newLibrary } from "./c-library.ts";
import { createCRank } from "./c-rank-process.ts";
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
    const life: Life = {
      stack: newStack(memory),
      end: { isReached: false },
      clock: { nowS: 0, steadyNs: 0n },
      descriptors,
      pause: { untilNs: 0n },
    };
    if (setup.thawFrom !== "") readLife(rankProcess, life, library, { ...images, folder: setup.thawFrom });
    // Compiled once for all threads of the process: V8 knows the bytes.
    const module = new WebAssembly.Module(bytes);
    const world = { rank, hostName: hostname(), signalName };
    const imports = importsOf(module, { ...world, ...life, memory, library, program: binding });
    const cProgram = new CProgram(module, imports, binding, memory, life.stack);
    say({ kind: "runs" });
    const isThawed = setup.thawFrom !== "";
    if (!life.end.isReached) life.end.isReached = isThawed ? cProgram.goOn() : cProgram.start();
    for (;;) {
      const leaving = life.end.isReached ? rankProcess.leave() : ({ kind: "stopped" } as const);
      if (leaving.kind === "left") return { kind: "returned" };
      if (leaving.kind === "unfinished") return leaving;
      say({ kind: "stopped" });
      if (becomeQuiet(rankProcess)) break;
      if (!life.end.isReached) life.end.isReached = cProgram.goOn();
    }
    rankProcess.handOver();
    takeImage(rankProcess, life, library, { ...images, folder: setup.freezeTo });
    rankProcess.close();
    return { kind: "frozen" };
  } catch (error) {
    rankProcess.close();
    return endingOf(error);
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
    suspension: rankProcess.program.suspension,
    yield: newYield(),
  });
}

function signalName(signal: number): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => number === signal)?.[0];
}

function endingOf(error: unknown): Ending {
  return error instanceof Ended ? error.ending : endingOfError(error);
}

/** The node will terminate this thread; nothing of the program may run until then. */
function waitForTheEnd(): never {
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (;;) Atomics.wait(never, 0, 0, 1000);
}
