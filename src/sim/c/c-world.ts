/**
 * A program in C on simulated ranks, all in one thread: the module, the binding and the engine are those of the real world;
 * clock, network and the order of everything come from the seed. The same seed gives the same run, byte for byte.
 *
 * All processes can be brought to rest together, at the n-th call in which a process can stop at all, counted over the whole
 * world; then they have an image, and a new world can begin with it.
 */
import { assert } from "../../core/base/assert.ts";
import { codeFromNumber, codeOfEnding } from "../../core/service/ending.ts";
import type { Files } from "../../wasi/ports.ts";
import { World, type WorldOptions } from "../world.ts";
import { noFiles } from "./library.ts";
import type { PrintedLine, PrintedStream } from "./output.ts";
import { CProcess, type CProcessOptions, type HowEnded, type ProcessImage } from "./process.ts";
import { SimProgramMemory } from "./program-memory.ts";

export interface CWorldOptions {
  readonly module: WebAssembly.Module;
  readonly ranks: number;
  readonly nodes?: number;
  readonly seed: number;
  /** What is random to the program: the same number gives it the same; `seed` unless given. */
  readonly randomSeed?: number;
  /** What the clocks say at the beginning; 0 unless given. */
  readonly startNs?: number;
  readonly cost?: WorldOptions["cost"];
  readonly delayNs?: WorldOptions["delayNs"];
  /** How many times longer than another one's a call of a rank takes; 1 unless given. */
  readonly slowness?: (rank: number) => number;
  /** The program has read standard input, of which there is none. */
  readonly inputWanted?: () => void;
  /** The program's name first. */
  readonly args: readonly string[];
  readonly environment?: readonly string[];
  readonly files?: Files;
  readonly folders?: CProcessOptions["folders"];
  /** A new one of the right size for each rank: all zeros, shared. */
  readonly newMemory: () => WebAssembly.Memory;
  readonly signalName?: (signal: number) => string | undefined;
  /** In the order of virtual time. */
  readonly print: (line: PrintedLine) => void;
  readonly protocol?: WorldOptions["protocol"];
  /** Gets a line for each event. */
  readonly listener?: (line: string) => void;
  /** All ranks come to rest after this number of calls; 0: never. */
  readonly restAt?: number;
  /** Begins where an earlier world stood. */
  readonly from?: WorldImage;
}

/** All processes at rest. */
export interface WorldImage {
  readonly timeNs: number;
  readonly processes: readonly ProcessImage[];
}

export type CWorldOutcome =
  | { readonly kind: "finished" }
  | { readonly kind: "failed"; readonly rank: number; readonly how: HowEnded }
  /** Nothing will happen any more, and these wait. */
  | { readonly kind: "stuck"; readonly waiting: readonly { readonly rank: number; readonly what: string }[] }
  | { readonly kind: "at rest" };

interface Failure {
  readonly rank: number;
  readonly how: HowEnded;
  readonly timeNs: number;
}

export class CWorld {
  readonly world: World<SimProgramMemory>;
  readonly processes: readonly CProcess[];
  /** Calls in which a process could have stopped. */
  capturePoints = 0;
  readonly #options: CWorldOptions;
  readonly #startNs: number;
  #failure: Failure | null = null;

  constructor(options: CWorldOptions) {
    const { ranks, nodes = 1, seed, from, listener, protocol, cost, delayNs } = options;
    assert(from === undefined || from.processes.length === ranks, "an image of a world of another size");
    this.#options = options;
    this.#startNs = from?.timeNs ?? options.startNs ?? 0;
    this.world = new World<SimProgramMemory>({
      ranks,
      nodes,
      seed,
      sharesInside: true,
      ...(cost === undefined ? {} : { cost }),
      delayNs,
      ...(listener === undefined ? {} : { listener }),
      ...(protocol === undefined ? {} : { protocol }),
      memoryOf: (_rank, arena) => new SimProgramMemory(options.newMemory(), arena),
    });
    const common: CProcessOptions = {
      module: options.module,
      args: options.args,
      environment: options.environment ?? [],
      files: options.files ?? noFiles,
      folders: options.folders ?? [],
      seed: options.randomSeed ?? seed,
      startNs: this.#startNs,
      slowness: options.slowness ?? (() => 1),
      inputWanted: options.inputWanted ?? (() => {}),
      signalName: options.signalName ?? (() => undefined),
      print: (process, stream, bytes) => this.#print(process, stream, bytes),
      passes: () => this.#passes(),
      ended: (process, how) => this.#ended(process, how),
    };
    const { world } = this;
    this.processes = world.processes.map((sim) => new CProcess(world, sim, common, from?.processes[sim.rank] ?? null));
    // All are restored before the first arrives anywhere.
    for (const { core } of world.processes) core.collectives.arriveAgain();
    for (const process of this.processes) world.start(process.rank, () => process.run());
  }

  get nowNs(): number {
    return this.#startNs + this.world.nowNs;
  }

  run(): CWorldOutcome {
    const stuck = this.world.run();
    if (this.#failure === null && this.processes.every(({ isAtRest }) => isAtRest)) return { kind: "at rest" };
    this.#printRests();
    if (this.#failure !== null) return { kind: "failed", ...this.#failure };
    const waiting = stuck.map(({ rank }) => ({ rank, what: this.processes[rank]!.waitsFor }));
    return waiting.length === 0 ? { kind: "finished" } : { kind: "stuck", waiting };
  }

  /** Of processes at rest. They can go on afterwards. */
  image(): WorldImage {
    return { timeNs: this.nowNs, processes: this.processes.map((process) => process.image()) };
  }

  goOn(): CWorldOutcome {
    for (const process of this.processes) process.goOn();
    return this.run();
  }

  #passes(): void {
    if (++this.capturePoints === this.#options.restAt) for (const process of this.processes) process.rest();
  }

  /** A process is ahead of the others: its lines appear when their time has come. */
  #print({ rank, nowNs }: CProcess, stream: PrintedStream, bytes: Uint8Array): void {
    this.world.plan(nowNs - this.#startNs, () => this.#options.print({ rank, stream, bytes }));
  }

  #printRests(): void {
    for (const { rank, lines } of this.processes) {
      for (const stream of [1, 2] as const) {
        const bytes = lines.rest(stream);
        if (bytes.length > 0) this.#options.print({ rank, stream, bytes });
      }
    }
  }

  /** The first failure ends the world. */
  #ended({ rank, nowNs }: CProcess, how: HowEnded): void {
    const timeNs = nowNs - this.#startNs;
    if (this.#failure === null || timeNs < this.#failure.timeNs) this.#failure = { rank, how, timeNs };
    this.world.end(timeNs);
  }
}

/** The exit code, by the rules of `banyan run`. */
export function codeOfOutcome(outcome: CWorldOutcome): number {
  if (outcome.kind === "stuck") return 1;
  if (outcome.kind !== "failed") return 0;
  const { how } = outcome;
  return how.kind === "aborted" ? codeFromNumber(how.code) : codeOfEnding(how);
}
