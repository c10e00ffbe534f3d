/**
 * The speed of writing and reading images: the runtime's own writer and reader on a memory full of incompressible bytes,
 * against a plain write and a plain read of as many bytes, in turn in one process. `banyan bench images` starts it.
 *
 * Two ways to capture: the program stands still all the time (`banyan run --freeze-at`), or the program runs and changes 16 MiB
 * again and again while rounds are copied, and stands still for the last round.
 */
import { randomFillSync } from "node:crypto";
import { closeSync, fstatSync, fsyncSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";
import { assert } from "../../core/base/assert.ts";
import { ImageWriter } from "../../real/image/image-writer.ts";
import { readImage } from "../../real/image/read-image.ts";
import { writeImageNow } from "../../real/image/write-image.ts";
import { setFlagsFor } from "../../v8/flags.ts";

interface ProbeOptions {
  readonly folder: string;
  readonly mib: number;
  readonly batches: number;
}

const mibBytes = 1 << 20;
const wasmPageBytes = 65_536;
/** Bytes of one plain write or read call. */
const pieceBytes = mibBytes;
/** The part of the memory that the running program changes. */
const busyBytesMax = 16 * mibBytes;
const header = { program: "bench", layout: 1, rank: 0, ranks: 1 };
const state = new Uint8Array(wasmPageBytes);

/** Bytes and the time for them. */
interface Timed {
  readonly bytes: number;
  readonly seconds: number;
}

/** Prints samples, a figure for each batch. */
export async function probeImages({ folder, mib, batches }: ProbeOptions): Promise<void> {
  // With the flags of a node that runs programs in C.
  setFlagsFor("run C programs");
  setFlagsFor("collect garbage on demand");
  const collectGarbage = runInNewContext("gc") as () => void;
  const memory = newMemory(mib * mibBytes);
  fill(memory);
  const path = join(folder, "probe.image");
  const figures = new Map<string, number[]>();
  const note = (metric: string, figure: number): void => {
    figures.set(metric, [...(figures.get(metric) ?? []), figure]);
  };
  for (let batch = 0; batch < batches; batch++) {
    note("plain_write_gbs", speed(plainWrite(path, memory)));
    const running = await captureRunning(path, memory, mib * mibBytes);
    note("capture_running_gbs", speed(running));
    note("stopped_s", running.stoppedSeconds);
    rmSync(path);
    note("capture_gbs", speed(capture(path, memory)));
    note("plain_read_gbs", speed(plainRead(path)));
    collectGarbage();
    const { back, ...restored } = restore(path, mib * mibBytes);
    note("restore_gbs", speed(restored));
    const isSame = Buffer.compare(new Uint8Array(back.buffer), new Uint8Array(memory.buffer)) === 0;
    assert(isSame, "what was read from the image is what was written");
    rmSync(path);
    collectGarbage();
  }
  for (const [metric, values] of figures)
    console.log(`sample ${metric} ${mib} ${values.map((value) => value.toFixed(6)).join(" ")}`);
}

const speed = ({ bytes, seconds }: Timed): number => bytes / seconds / 1e9;

function newMemory(bytes: number): WebAssembly.Memory {
  const pages = Math.ceil(bytes / wasmPageBytes);
  return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
}

function fill(memory: WebAssembly.Memory): void {
  const bytes = new Uint8Array(memory.buffer);
  const piece = Buffer.alloc(pieceBytes);
  for (let at = 0; at < bytes.length; at += pieceBytes) bytes.set(randomFillSync(piece), at);
}

function timed(work: () => number): Timed {
  const start = performance.now();
  const bytes = work();
  return { bytes, seconds: (performance.now() - start) / 1000 };
}

function plainWrite(path: string, memory: WebAssembly.Memory): Timed {
  const bytes = new Uint8Array(memory.buffer);
  const result = timed(() => {
    const file = openSync(path, "w");
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes.subarray(at, at + pieceBytes));
    fsyncSync(file);
    closeSync(file);
    return bytes.length;
  });
  rmSync(path);
  return result;
}

function plainRead(path: string): Timed {
  return timed(() => {
    const file = openSync(path, "r");
    const { size } = fstatSync(file);
    const bytes = new Uint8Array(newMemory(size).buffer);
    for (let at = 0; at < size; ) at += readSync(file, bytes.subarray(at, Math.min(at + pieceBytes, size)));
    closeSync(file);
    return size;
  });
}

function capture(path: string, memory: WebAssembly.Memory): Timed {
  const ranges = [[0, memory.buffer.byteLength]] as const;
  return timed(() => writeImageNow(path, { header, state, memory, ranges }).fileBytes);
}

function restore(path: string, memoryBytes: number): Timed & { back: WebAssembly.Memory } {
  let back: WebAssembly.Memory | undefined;
  const result = timed(() => {
    back = newMemory(memoryBytes);
    readImage(path, back, header);
    return memoryBytes;
  });
  return { ...result, back: back! };
}

/** The time includes the start of the writer's thread. */
async function captureRunning(
  path: string,
  memory: WebAssembly.Memory,
  memoryBytes: number,
): Promise<Timed & { stoppedSeconds: number }> {
  const ranges = [[0, memoryBytes]] as const;
  const program = await BusyProgram.start(memory, Math.min(busyBytesMax, memoryBytes >> 2));
  const start = performance.now();
  const writer = ImageWriter.start({ path, memory });
  await writer.preCopy(() => ranges);
  await program.stop();
  const stopped = performance.now();
  const { captured, stored } = writer.finish({ header, state, ranges });
  await captured;
  const stoppedSeconds = (performance.now() - stopped) / 1000;
  const { fileBytes } = await stored;
  return { bytes: fileBytes, seconds: (performance.now() - start) / 1000, stoppedSeconds };
}

/** A thread that writes one word into each page of a part of the memory, again and again. */
class BusyProgram {
  readonly #worker: Worker;
  readonly #words: Int32Array;

  private constructor(worker: Worker, words: Int32Array) {
    this.#worker = worker;
    this.#words = words;
  }

  static async start(memory: WebAssembly.Memory, busyBytes: number): Promise<BusyProgram> {
    const words = new Int32Array(new SharedArrayBuffer(4));
    const code = `const { parentPort, workerData: { memory, words, busyBytes } } = require("node:worker_threads");
      const numbers = new Uint32Array(memory.buffer, 0, busyBytes / 4);
      parentPort.postMessage("runs");
      for (let at = 0; Atomics.load(words, 0) === 0; at = (at + 1024) % numbers.length) numbers[at]++;
      parentPort.postMessage("stands");`;
    const worker = new Worker(code, { eval: true, workerData: { memory, words, busyBytes } });
    await new Promise((resolve) => worker.once("message", resolve));
    return new BusyProgram(worker, words);
  }

  async stop(): Promise<void> {
    const stands = new Promise((resolve) => this.#worker.once("message", resolve));
    Atomics.store(this.#words, 0, 1);
    await stands;
  }
}
