/**
 * One simulated process: the same core as everywhere (`core`), its ports, and the program it runs. A program is a generator:
 * it starts operations and yields what it waits for; the world switches to another process meanwhile.
 *
 *   function* (process) {
 *     const request = process.engine.startSend(…);
 *     yield request;                                  // a request: until it is complete
 *     yield process.compute(5_000);                   // time passes, and nothing is received meanwhile
 *     yield process.until("a message", () => …);      // anything else
 *     yield process.settle("rest", () => …);          // the same, and nothing but messages progresses meanwhile
 *     yield process.still("word", () => …);           // the same, and nothing at all progresses meanwhile
 *     yield process.nap("a lock", 5_000);             // time passes, and messages progress meanwhile
 *   }
 */
import type { RecordId } from "../core/base/brand.ts";
import type { Engine } from "../core/p2p/engine.ts";
import type { Process } from "../core/process/process.ts";
import { describeRequest } from "./describe-request.ts";
import type { ProcessMemory, SimMemory } from "./memory.ts";
import type { SimTransport } from "./transport.ts";

/** A real process looks 50 times and more (real/process/waiting.ts). */
const looksBeforeSleep = 20;

export type Wait =
  | { readonly kind: "until" | "settle" | "still"; readonly describe: () => string; readonly ready: () => boolean }
  | { readonly kind: "nap"; readonly describe: () => string; readonly forNs: number; isOver: boolean }
  | { readonly kind: "compute"; readonly forNs: number };

export type Steps<T = void> = Generator<RecordId | Wait, T, void>;
export type RankProgram<M extends ProcessMemory = SimMemory> = (process: SimProcess<M>) => Steps;

/** Passive: without a program, driven by a test from outside. */
export type SimState = "passive" | "waiting" | "computing" | "finished" | "dead";

export class SimProcess<M extends ProcessMemory = SimMemory> {
  readonly rank: number;
  /** Among the processes of the world: its rank, where a rank has one process. */
  readonly number: number;
  /** Another one when the process becomes a suspect: behind those of the world. */
  node: number;
  /** It is taken for dead, and lives: no word of it counts outside. */
  isSuspect = false;
  readonly memory: M;
  readonly transport: SimTransport;
  readonly core: Process;
  readonly engine: Engine;
  /** How far its program is ahead of the world's clock: it runs in one go, and what it does takes time all the same. */
  aheadNs = 0;
  state: SimState = "passive";
  /** How often its program has gone on. */
  steps = 0;
  /** An event that will make it look is planned. */
  wakePlanned = false;
  #program: Steps | null = null;
  #wait: Wait | null = null;

  constructor(parts: {
    readonly number: number;
    readonly node: number;
    readonly memory: M;
    readonly transport: SimTransport;
    readonly core: Process;
  }) {
    this.rank = parts.core.rank;
    this.number = parts.number;
    this.node = parts.node;
    this.memory = parts.memory;
    this.transport = parts.transport;
    this.core = parts.core;
    this.engine = parts.core.engine;
  }

  start(program: RankProgram<M>): void {
    this.#program = program(this);
    this.#wait = null;
    this.state = "waiting";
  }

  /** What it waits for; for the report on a world that is stuck. */
  get waitsFor(): string {
    return this.#wait !== null && this.#wait.kind !== "compute" ? this.#wait.describe() : "its first step";
  }

  /**
   * Runs the program as far as it goes, moving whatever can move while it waits. Returns for how long it computes, or naps from now on; −1:
   * neither.
   */
  look(): number {
    while (this.state === "waiting") {
      const wait = this.#wait;
      if (wait !== null && wait.kind !== "compute") {
        const moving = wait.kind === "until" ? this.core : this.engine;
        while (!isOver(wait)) if (wait.kind === "still" || !this.#moves(moving)) return -1;
      }
      this.steps++;
      const { done, value } = this.#program!.next();
      if (done === true) {
        this.state = "finished";
        break;
      }
      this.#wait = typeof value === "number" ? this.completion(value) : value;
      if (this.#wait.kind === "compute") {
        this.state = "computing";
        return this.#wait.forNs;
      }
      if (this.#wait.kind === "nap") {
        while (this.#moves(this.engine));
        return this.#wait.forNs;
      }
    }
    // Finished or passive: others may still want something of it.
    while (this.#moves(this.core));
    return -1;
  }

  /** Does anything move? A protocol may let some looks pass before it does what it could do at once; a real process looks more often before it sleeps. */
  #moves(moving: Pick<Engine, "progress">): boolean {
    for (let looks = 0; looks < looksBeforeSleep; looks++) {
      if (moving.progress()) return true;
      if (this.core.protocol?.isBusy !== true) return false;
    }
    return false;
  }

  /** The computing is over, or the nap. */
  resume(): void {
    if (this.#wait?.kind === "nap") this.#wait.isOver = true;
    if (this.state !== "computing") return;
    this.state = "waiting";
    this.#wait = null;
  }

  compute(forNs: number): Wait {
    return { kind: "compute", forNs };
  }

  nap(what: string, forNs: number): Wait {
    return { kind: "nap", describe: () => what, forNs, isOver: false };
  }

  until(what: string, ready: () => boolean): Wait {
    return { kind: "until", describe: () => what, ready };
  }

  settle(what: string, ready: () => boolean): Wait {
    return { kind: "settle", describe: () => what, ready };
  }

  still(what: string, ready: () => boolean): Wait {
    return { kind: "still", describe: () => what, ready };
  }

  completion(request: RecordId): Wait {
    const { engine } = this;
    return {
      kind: "until",
      describe: () => describeRequest(engine.records, request),
      ready: () => engine.isComplete(request),
    };
  }
}

const isOver = (wait: Exclude<Wait, { readonly kind: "compute" }>): boolean =>
  wait.kind === "nap" ? wait.isOver : wait.ready();
