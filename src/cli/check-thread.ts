/** The thread in which one run of a determinism check is simulated: only threads can be given a deep stack. */
import { constants } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { filesOf } from "../real/c-rank/node-files.ts";
import { type RecordedRun, recordRun } from "../sim/c/recorded-run.ts";
import { environmentOf } from "../wasi/environment.ts";

export interface CheckThreadSetup {
  readonly module: WebAssembly.Module;
  readonly args: readonly string[];
  readonly ranks: number;
  readonly nodes: number;
  readonly run: number;
  readonly firstSeed: number;
  readonly memoryMb: number;
  readonly folders: readonly { readonly name: string; readonly path: string }[];
}

const setup = workerData as CheckThreadSetup;
const pages = setup.memoryMb * 16;
const run: RecordedRun = recordRun({
  ...setup,
  environment: environmentOf(process.env, setup.folders),
  files: filesOf(setup.folders),
  newMemory: () => new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true }),
  signalName: (signal) => Object.entries(constants.signals).find(([, number]) => number === signal)?.[0],
});
parentPort!.postMessage(run);
