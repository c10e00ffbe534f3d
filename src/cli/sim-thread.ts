/**
 * The thread in which a program in C is simulated: only threads can be given a deep stack. The thread prints the program's
 * output, and reports how the program ended.
 */
import { writeSync } from "node:fs";
import { constants } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { filesOf } from "../real/c-rank/node-files.ts";
import { CWorld, type CWorldOutcome } from "../sim/c/c-world.ts";
import { environmentOf } from "../wasi/environment.ts";

export interface SimThreadSetup {
  readonly module: WebAssembly.Module;
  readonly args: readonly string[];
  readonly ranks: number;
  readonly nodes: number;
  readonly seed: number;
  readonly memoryMb: number;
  readonly folders: readonly { readonly name: string; readonly path: string }[];
  /** Prints every event. */
  readonly trace: boolean;
}

export interface FromSimThread {
  readonly outcome: CWorldOutcome;
  readonly timeNs: number;
  readonly messages: number;
  readonly events: number;
}

const setup = workerData as SimThreadSetup;
const pages = setup.memoryMb * 16;
const world = new CWorld({
  ...setup,
  environment: environmentOf(process.env, setup.folders),
  files: filesOf(setup.folders),
  newMemory: () => new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true }),
  signalName: (signal) => Object.entries(constants.signals).find(([, number]) => number === signal)?.[0],
  print: ({ stream, bytes }) => write(stream, bytes),
  ...(setup.trace ? { listener: (line: string) => write(2, Buffer.from(`${line}\n`)) } : {}),
});
const outcome = world.run();
const { network, trace } = world.world;
parentPort!.postMessage({
  outcome,
  timeNs: world.nowNs,
  messages: network.messagesSent,
  events: trace.events,
} satisfies FromSimThread);

/** Waits for the reader, as any program does; without a reader the simulation ends. */
function write(stream: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(stream, bytes, done);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) process.exit(1);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
