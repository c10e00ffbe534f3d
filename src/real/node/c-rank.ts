/**
 * The thread of a rank whose program is written in C: puts the process together, gives the WebAssembly module its imports,
 * runs it, and says how it ended. Everything happens in one go: the thread's event loop never turns.
 */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { bind } from "../../abi/binding.ts";
import { assert } from "../../core/base/assert.ts";
import type { Ending } from "../../core/service/ending.ts";
import { wasiImports } from "../../wasi/wasi.ts";
import { newYield } from "../process/yield.ts";
import { Exit, newLibrary } from "./c-library.ts";
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
    // Compiled once for all threads of the process: V8 knows the bytes.
    const module = new WebAssembly.Module(readFileSync(program.bundle.wasm));
    say({ kind: "runs" });
    start(module);
  } catch (error) {
    if (!(error instanceof Exit) || error.code !== 0) {
      rankProcess.close();
      return endingOf(error);
    }
  }
  const requests = rankProcess.leave();
  return requests > 0 ? { kind: "unfinished", requests } : { kind: "returned" };
}

function start(module: WebAssembly.Module): void {
  const { memory, program: binding } = rankProcess;
  const names = WebAssembly.Module.imports(module);
  const of = (from: string) => names.filter((each) => each.module === from).map((each) => each.name);
  const environment = Object.entries(process.env).map(([name, value]) => `${name}=${value}`);
  const library = newLibrary({
    args: [program.path, ...program.args],
    environment,
    rank,
    lines,
    port,
    yield: newYield(),
  });
  const { exports } = new WebAssembly.Instance(module, {
    env: { memory: setup.programMemories[memory.process]! },
    mpi: bind(binding, of("mpi")),
    wasi_snapshot_preview1: wasiImports({ library, memory: memory.bytes, folders: setup.folders }),
    banyan: supportImports({ memory: memory.bytes, pid: firstPid + rank, hostName: hostname() }),
  });
  memory.attach((exports["banyan_memory"] as WebAssembly.Global).value as number);
  const table = exports["__indirect_function_table"] as WebAssembly.Table;
  binding.parametersOf = (fn) => (table.get(fn) as (...args: never[]) => void).length;
  (exports["_start"] as () => void)();
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
