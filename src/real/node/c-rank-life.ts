/**
 * A rank whose program is written in C, from its first breath to its ending: everything but who gives it time. Alone in its
 * thread it runs in one go (`run`); several in one thread take turns (c-rank-turns.ts).
 */
import { readFileSync } from "node:fs";
import { constants, hostname } from "node:os";
import type { MessagePort } from "node:worker_threads";
import { importsOf } from "../../abi/c-imports.ts";
import { CProgram, canStop, newStack } from "../../abi/c-program.ts";
import { Ended } from "../../abi/ended.ts";
import type { Ending } from "../../core/service/ending.ts";
import { ImageError } from "../../image/image-error.ts";
import { StateError } from "../../image/state/state-error.ts";
import { Descriptors } from "../../wasi/descriptors.ts";
import { newYield } from "../process/yield.ts";
import { Stop } from "../transport/layout.ts";
import {
  becomeQuiet,
  hashOf,
  type ImageOptions,
  type Life,
  type MovableLibrary,
  readLife,
  takeImage,
} from "./c-image.ts";
import { newLibrary } from "./c-library.ts";
import { type CRankProcess, createCRank } from "./c-rank-process.ts";
import { endingOfError } from "./error-report.ts";
import { LineWriter } from "./line-ring.ts";
import type { FromRank, RankSetup } from "./messages.ts";
import { bellOf } from "./node-words.ts";

type Imports = ReturnType<typeof importsOf>;

export interface CRankOptions {
  readonly setup: RankSetup;
  readonly port: MessagePort;
  /** It shares its thread: a wait stops it inside the call. */
  readonly takesTurns: boolean;
  /** What MPI_Abort does after it has been said. */
  abort(): never;
}

export class CRank {
  readonly setup: RankSetup;
  readonly process: CRankProcess;
  readonly #port: MessagePort;
  readonly #lines: LineWriter;
  #life!: Life;
  #library!: MovableLibrary;
  #program!: CProgram;
  #module!: Uint8Array;
  readonly #takesTurns: boolean;
  #isStarted = false;

  constructor({ setup, port, takesTurns, abort }: CRankOptions) {
    this.setup = setup;
    this.#port = port;
    this.#takesTurns = takesTurns;
    this.#lines = new LineWriter(setup.lines, bellOf(setup.words));
    this.process = createCRank(
      {
        rank: setup.rank,
        size: setup.nodeOf.length,
        nodeOf: setup.nodeOf,
        incarnation: setup.incarnation,
        protocol: setup.protocol,
        memory: setup.memory,
        handover: setup.handover,
        tell: (message) => this.say(message),
        traceFile: setup.traceFile,
        abort: (code, message) => {
          this.say({ kind: "abort", code, message });
          return abort();
        },
        result() {},
      },
      { memories: setup.programMemories, takesTurns },
    );
  }

  say(message: FromRank): void {
    this.#port.postMessage(message);
  }

  /** The program is there: its module is compiled, and a thawed rank reads its image. `change` may wrap imports. */
  load(change: (imports: Imports) => void = () => {}): void {
    const { setup, process } = this;
    const { rank, program, thawFrom, freezeTo } = setup;
    const { memory, program: binding } = process;
    const bytes = readFileSync(program.bundle.wasm);
    this.#library = this.#newLibrary();
    const descriptors = new Descriptors(this.#library.files, setup.folders);
    this.#life = {
      stack: newStack(memory),
      end: { isReached: false },
      clock: { nowS: 0, steadyNs: 0n },
      descriptors,
      pause: { untilNs: 0n },
    };
    this.#isStarted = thawFrom !== "";
    this.#module = bytes;
    if (this.#isStarted) readLife(process, this.#life, this.#library, this.#imageIn(thawFrom));
    // Compiled once for all threads of the process: V8 knows the bytes.
    const module = new WebAssembly.Module(bytes);
    const mustStop = this.#takesTurns ? "take turns" : freezeTo !== "" ? "be frozen" : "";
    if (mustStop !== "" && !canStop(module)) {
      throw new Ended({ kind: "gave-up", why: `it cannot ${mustStop}: it was linked with --no-capture` });
    }
    const world = { rank, hostName: hostname(), signalName };
    const imports = importsOf(module, { ...world, ...this.#life, memory, library: this.#library, program: binding });
    change(imports);
    this.#program = new CProgram(module, imports, binding, memory, this.#life.stack);
    this.say({ kind: "runs" });
  }

  /** The hash takes a millisecond or two: only who has an image pays for it. */
  #imageIn(folder: string): ImageOptions {
    const { rank, nodeOf } = this.setup;
    return { rank, ranks: nodeOf.length, program: hashOf(this.#module), folder };
  }

  #newLibrary(): MovableLibrary {
    const { run, rank, program } = this.setup;
    const environment = Object.entries(process.env).map(([name, value]) => `${name}=${value}`);
    return newLibrary({
      run,
      args: [program.path, ...program.args],
      environment,
      rank,
      lines: this.#lines,
      port: this.#port,
      suspension: this.process.program.suspension,
      takesTurns: this.#takesTurns,
      yield: newYield(),
    });
  }

  /** Has the program come to its end? */
  get isOver(): boolean {
    return this.#life.end.isReached;
  }

  /** Lets the program run until it ends or stops. */
  goOn(): void {
    if (this.isOver) return;
    const isStarted = this.#isStarted;
    this.#isStarted = true;
    this.#life.end.isReached = isStarted ? this.#program.goOn() : this.#program.start();
  }

  /** Alone in its thread: all of it. */
  run(): Ending {
    return this.ending(() => {
      const { host } = this.process;
      this.load();
      this.goOn();
      for (;;) {
        const leaving = this.isOver ? this.process.leave() : ({ kind: "stopped" } as const);
        if (leaving.kind === "left") return { kind: "returned" };
        if (leaving.kind === "unfinished") return leaving;
        this.say({ kind: "stopped" });
        if (becomeQuiet(this.process)) {
          this.writeImage();
          host.settle(() => host.wanted !== Stop.STOP);
          if (host.wanted === Stop.END) return this.frozen();
          this.carryOn();
        }
        this.goOn();
      }
    });
  }

  /**
   * Nothing is under way in the job: writes the image and says how that went. The rank stands still until all have; then the
   * node says whether it ends or, where an image could not be written, goes on. Nobody loses a run to a full disk.
   */
  writeImage(): void {
    let problem = "";
    try {
      takeImage(this.process, this.#life, this.#library, this.#imageIn(this.setup.freezeTo));
    } catch (error) {
      if (!(error instanceof ImageError || error instanceof StateError)) throw error;
      problem = error.message;
    }
    this.say({ kind: "image", problem });
  }

  frozen(): Ending {
    this.process.handOver();
    this.process.close();
    return { kind: "frozen" };
  }

  carryOn(): void {
    this.process.process.collectives.arriveAgain();
  }

  /** What `act` says; what it throws is an ending as well. */
  ending<T extends Ending | null>(act: () => T): T | Ending {
    try {
      return act();
    } catch (error) {
      this.process.close();
      return error instanceof Ended ? error.ending : endingOfError(error);
    }
  }
}

function signalName(signal: number): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => number === signal)?.[0];
}
