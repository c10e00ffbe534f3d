/**
 * One simulated process: the same core as everywhere (`core`), its ports, and the program it runs. A program is a generator:
 * it starts operations and yields what it waits for; the world switches to another process meanwhile.
 *
 *   function* (process) {
 *     const request = process.engine.startSend(…);
 *     yield request;                                  // a request: until it is complete
 *     yield process.compute(5_000);                   // time passes, and nothing is received meanwhile
 *     yield process.until("a message", () => …);      // anything else
 *   }
 */
import type { RecordId } from "../core/base/brand.ts";
import type { Engine } from "../core/p2p/engine.ts";
import type { Process } from "../core/process/process.ts";
import { describeRequest } from "./describe-request.ts";
import type { SimMemory } from "./memory.ts";
import type { SimTransport } from "./transport.ts";

export type Wait =
  | { readonly kind: "until"; readonly describe: () => string; readonly ready: () => boolean }
  | { readonly kind: "compute"; readonly forNs: number };

export type Program = (process: SimProcess) => Generator<RecordId | Wait, void, void>;

/** Passive: without a program, driven by a test from outside. */
export type SimState = "passive" | "waiting" | "computing" | "finished" | "dead";

export class SimProcess {
  readonly rank: number;
  readonly node: number;
  readonly memory: SimMemory;
  readonly transport: SimTransport;
  readonly core: Process;
  readonly engine: Engine;
  state: SimState = "passive";
  /** An event that will make it look is planned. */
  wakePlanned = false;
  #program: ReturnType<Program> | null = null;
  #wait: Wait | null = null;

  constructor(parts: {
    readonly node: number;
    readonly memory: SimMemory;
    readonly transport: SimTransport;
    readonly core: Process;
  }) {
    this.rank = parts.core.rank;
    this.node = parts.node;
    this.memory = parts.memory;
    this.transport = parts.transport;
    this.core = parts.core;
    this.engine = parts.core.engine;
  }

  start(program: Program): void {
    this.#program = program(this);
    this.state = "waiting";
  }

  /** What it waits for; for the report on a world that is stuck. */
  get waitsFor(): string {
    return this.#wait?.kind === "until" ? this.#wait.describe() : "its first step";
  }

  /** Runs the program as far as it goes, moving whatever can move while it waits. Returns for how long it computes, or −1. */
  look(): number {
    while (this.state === "waiting") {
      if (this.#wait?.kind === "until") {
        while (!this.#wait.ready()) if (!this.core.progress()) return -1;
      }
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
    }
    // Finished or passive: others may still want something of it.
    while (this.core.progress());
    return -1;
  }

  /** The computing is over. */
  resume(): void {
    if (this.state !== "computing") return;
    this.state = "waiting";
    this.#wait = null;
  }

  compute(forNs: number): Wait {
    return { kind: "compute", forNs };
  }

  until(what: string, ready: () => boolean): Wait {
    return { kind: "until", describe: () => what, ready };
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
