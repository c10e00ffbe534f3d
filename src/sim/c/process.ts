/**
 * One simulated C process: the program's module as a program of the simulator. A wait that would have to wait stops it inside
 * the call, and it goes on when what it waits for is there; so do calls that only look, after a while, because others must run
 * as well. All calls take the same time.
 */
import { callText } from "../../abi/arguments/call-text.ts";
import { cImportsOf } from "../../abi/c-imports.ts";
import { CProgram, newStack, type UnwoundStack } from "../../abi/c-program.ts";
import { type CrashedProgram, endingOfCrash } from "../../abi/crash/crash.ts";
import { Ended } from "../../abi/ended.ts";
import { type Companions, restoreProcess, saveProcess } from "../../abi/process-state.ts";
import { Program } from "../../abi/program.ts";
import { CoroutineHost } from "../../abi/waiting/coroutine-host.ts";
import { capturePoints } from "../../core/base/capture-points.ts";
import { noTerminals } from "../../core/base/terminals.ts";
import type { Write } from "../../core/ft/protocol.ts";
import { type RestState, Settling } from "../../core/process/settling.ts";
import { noSpawner } from "../../core/process/spawner.ts";
import { unusedArea } from "../../core/request/memory-marks.ts";
import type { Ending } from "../../core/service/ending.ts";
import { type LinePlace, passOver } from "../../core/service/line-places.ts";
import { rangesWithout } from "../../image/ranges.ts";
import { Descriptors } from "../../wasi/descriptors.ts";
import type { Files, Library, Pause } from "../../wasi/ports.ts";
import type { Rests } from "../interpreter/interpreter.ts";
import type { SimProcess, Steps } from "../sim-process.ts";
import type { World } from "../world.ts";
import { type RandomDraws, simLibrary } from "./library.ts";
import { LineCutter, type PrintedStream } from "./output.ts";
import type { SimProgramMemory } from "./program-memory.ts";

/** State and memory of a process at rest. */
export interface ProcessImage {
  readonly state: Uint8Array;
  readonly parts: readonly { readonly at: number; readonly bytes: Uint8Array }[];
}

/** What the processes of a world have in common. */
export interface CProcessOptions {
  readonly module: WebAssembly.Module;
  /** The program's name first. */
  readonly args: readonly string[];
  /** NAME=value. */
  readonly environment: readonly string[];
  readonly files: Files;
  /** What the program is given, under the names by which it knows them. */
  readonly folders: readonly { readonly name: string; readonly path: string }[];
  readonly seed: number;
  /** What the clocks say at the beginning. */
  readonly startNs: number;
  /** How many times longer than another one's a call of that rank takes. */
  slowness?(rank: number): number;
  inputWanted?(): void;
  signalName(signal: number): string | undefined;
  print(process: CProcess, stream: PrintedStream, bytes: Uint8Array): void;
  /** The program calls something in which it could be captured. */
  passes(process: CProcess): void;
  ended(process: CProcess, how: HowEnded): void;
  /** Where ranks come back. */
  readonly recovery?: CRecovery;
}

/** What a process needs to be captured and to come back. */
interface CRecovery {
  rests(rank: number): Rests;
  /** Bytes of standard output have left, which begin at that place. */
  left(rank: number, place: LinePlace, bytes: Uint8Array): void;
}

/** Printed pieces that may not leave yet. A real rank waits inside the call, which a simulated one cannot. */
interface HeldBack {
  readonly write: Write;
  readonly place: LinePlace;
  readonly bytes: Uint8Array;
}

export type HowEnded = Ending | { readonly kind: "aborted"; readonly code: number; readonly message: string };

/** Everything of a process beside what its `Program` holds. */
interface Life {
  readonly stack: UnwoundStack;
  readonly end: { isReached: boolean };
  readonly descriptors: Descriptors;
  readonly pause: Pause;
  readonly draws: RandomDraws;
  readonly lines: LineCutter;
  /** Of standard output, where ranks come back. */
  readonly place: LinePlace;
}

/** Thrown by MPI_Abort. */
class Aborted extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: numbers, and BigInt where C has 64 bits
type Call = (...args: any[]) => number;
const isCapturePoint = new Set(capturePoints);

export class CProcess {
  readonly rank: number;
  readonly lines = new LineCutter();
  /** It stands still, and so do all others: an image can be taken. */
  isAtRest = false;
  readonly #sim: SimProcess<SimProgramMemory>;
  readonly #world: World<SimProgramMemory>;
  readonly #options: CProcessOptions;
  readonly #stop = { words: new Int32Array(1), at: 0 };
  readonly #program: Program;
  readonly #library: Library;
  readonly #life: Life;
  readonly #module: CProgram;
  /** It goes on inside a call. */
  #isStarted: boolean;
  #shallRest = false;
  readonly #heldBack: HeldBack[] = [];
  #writes = 0;
  /** The function it called last, and with which arguments. */
  #call = "";
  #arguments: readonly (number | bigint)[] = [];

  constructor(
    world: World<SimProgramMemory>,
    sim: SimProcess<SimProgramMemory>,
    options: CProcessOptions,
    image: ProcessImage | null,
  ) {
    this.rank = sim.rank;
    this.#world = world;
    this.#sim = sim;
    this.#options = options;
    const hostName = `node${sim.node}`;
    this.#program = new Program(
      new CoroutineHost({
        process: sim.core,
        survivesDeaths: false,
        processorName: hostName,
        stop: this.#stop,
        spawner: noSpawner(sim.core.ranks, "a simulated world has the ranks that it begins with"),
        whereabouts: { sleeps: 0, end() {} },
        mustGiveWay: () => true,
        giveWay: () => {
          this.#program.suspension.givesWay = true;
        },
        abort(code, message) {
          throw new Aborted(code, message);
        },
        now: () => this.nowNs / 1e9,
        // All lives have the world's clock.
        moveClockTo() {},
      }),
    );
    const { memory } = sim;
    const draws = { count: 0 };
    const { suspension } = this.#program;
    this.#library = simLibrary({
      ...options,
      seed: options.seed + sim.rank,
      draws,
      suspension,
      nowNs: () => this.nowNs,
      wakeAt: (timeNs) => world.wake(sim.rank, timeNs - options.startNs),
      write: (stream, bytes) => {
        if (options.recovery !== undefined) {
          if (stream === 1) this.#holdBack(bytes.slice());
          return;
        }
        for (const line of this.lines.cut(stream, bytes)) options.print(this, stream, line);
      },
      inputWanted: () => options.inputWanted?.(),
    });
    this.#life = {
      stack: newStack(memory),
      end: { isReached: false },
      descriptors: new Descriptors(options.files, options.folders),
      pause: { untilNs: 0n },
      draws,
      lines: this.lines,
      place: { line: 0, offset: 0 },
    };
    this.#isStarted = image !== null;
    if (image !== null) this.#restore(image);
    const { signalName } = options;
    const imports = cImportsOf(options.module, {
      rank: sim.rank,
      memory,
      program: this.#program,
      library: this.#library,
      hostName,
      terminals: noTerminals,
      signalName,
      ...this.#life,
    });
    this.#charge(imports);
    this.#module = new CProgram(options.module, imports, this.#program, memory, this.#life.stack);
  }

  /** What its clocks say. */
  get nowNs(): number {
    return this.#options.startNs + this.#world.nowNs + this.#sim.aheadNs;
  }

  /** The MPI function that it called last: its name, how many elements and of which type it was given. */
  get callText(): string {
    return callText(this.#program, this.#call, this.#arguments);
  }

  /** What it is doing, for the report on a world that is stuck. */
  get waitsFor(): string {
    return this.#life.end.isReached ? "for the others, at its end" : `in ${this.#call}`;
  }

  /** Has it stopped for want of something, and not because it was told to? */
  get isWaiting(): boolean {
    return !this.#life.end.isReached && !this.#program.suspension.isReady();
  }

  /** It shall stop inside the next MPI call and come to rest, as all others. */
  rest(): void {
    this.#shallRest = true;
    this.#stop.words[0] = 1;
    this.#world.wake(this.rank);
  }

  goOn(): void {
    this.#shallRest = false;
    this.#stop.words[0] = 0;
    this.#world.wake(this.rank);
  }

  image(): ProcessImage {
    const { memory } = this.#sim;
    this.#life.descriptors.beforeSave();
    const state = saveProcess(this.#program, this.#life as unknown as Companions, { files: this.#options.files });
    const ranges = rangesWithout(memory.ranges(), unusedArea(this.#life.stack, memory.words));
    return { state, parts: ranges.map(([at, end]) => ({ at, bytes: memory.bytes.slice(at, end) })) };
  }

  #restore({ state, parts }: ProcessImage): void {
    for (const { at, bytes } of parts) this.#sim.memory.bytes.set(bytes, at);
    restoreProcess(this.#program, state, this.#life as unknown as Companions, { files: this.#options.files });
    this.#life.descriptors.afterRestore();
  }

  *run(): Steps {
    try {
      yield* this.#runProgram();
      yield* this.#leave();
    } catch (error) {
      this.#options.ended(this, howEnded(error, this.#module));
    }
  }

  *#runProgram(): Steps {
    const { end } = this.#life;
    while (!end.isReached) {
      end.isReached = this.#isStarted ? this.#module.goOn() : this.#module.start();
      this.#isStarted = true;
      if (!this.#shallRest) this.#stop.words[0] = 0;
      yield* this.#passTime();
      if (!end.isReached) yield* this.#wait(() => this.#program.suspension.isReady());
    }
  }

  /** As in the real world: its unsent packets leave, then it waits for all other ranks. */
  *#leave(): Steps {
    const { core, engine } = this.#sim;
    if (core.finalBarrier < 0 || engine.isComplete(core.finalBarrier)) {
      yield* this.#wait(() => !engine.unsent);
      if (engine.completion.unfinished > 0)
        throw new Ended({ kind: "unfinished", requests: engine.completion.unfinished });
    }
    const barrier = core.startFinalBarrier();
    yield* this.#wait(() => engine.isComplete(barrier) && this.#letGo());
  }

  /** What the program has done took time. */
  *#passTime(): Steps {
    const { aheadNs } = this.#sim;
    if (aheadNs === 0) return;
    this.#sim.aheadNs = 0;
    yield this.#sim.compute(aheadNs);
  }

  *#wait(isReady: () => boolean): Steps {
    const rests = this.#options.recovery?.rests(this.rank) ?? null;
    for (;;) {
      yield this.#sim.until("", () => {
        this.#letGo();
        return this.#shallRest || rests?.isWanted() === true || isReady();
      });
      if (rests?.isWanted() === true) {
        // An image counts as written what its process has printed (rule 3).
        yield this.#sim.settle("", () => this.#letGo() || !rests.isWanted());
        if (rests.isWanted()) yield* rests.rest();
      } else if (!this.#shallRest) return;
      else yield* this.#comeToRest();
    }
  }

  #holdBack(bytes: Uint8Array): void {
    const { place } = this.#life;
    this.#heldBack.push({ write: { kind: "line", number: this.#writes++ }, place: { ...place }, bytes });
    passOver(place, bytes);
    this.#letGo();
  }

  /** Lets out what may leave; is anything left? */
  #letGo(): boolean {
    const { protocol } = this.#sim.core;
    for (let first = this.#heldBack[0]; first !== undefined; first = this.#heldBack[0]) {
      if (protocol !== null && !protocol.writeMayLeave(first.write)) return false;
      this.#options.recovery?.left(this.rank, first.place, first.bytes);
      this.#heldBack.shift();
    }
    return true;
  }

  *#comeToRest(): Steps {
    const settling = new Settling(this.#sim.core);
    let rest: RestState = "moving";
    yield this.#sim.settle("", () => {
      rest = settling.advance();
      return rest !== "moving";
    });
    if ((rest as RestState) === "over") {
      this.#shallRest = false;
      this.#stop.words[0] = 0;
      return;
    }
    this.isAtRest = true;
    yield this.#sim.settle("", () => !this.#shallRest);
    this.isAtRest = false;
  }

  /** Every call takes its time, and in between others have to run. */
  #charge(imports: {
    readonly mpi: Record<string, Call>;
    readonly wasi_snapshot_preview1: Record<string, Call>;
  }): void {
    for (const [name, call] of Object.entries(imports.mpi)) {
      imports.mpi[name] = this.#charged(call, name, isCapturePoint.has(`mpi.${name}`));
    }
    const { wasi_snapshot_preview1: wasi } = imports;
    wasi["clock_time_get"] = this.#charged(wasi["clock_time_get"]!, "", false);
    wasi["poll_oneoff"] = this.#charged(wasi["poll_oneoff"]!, "sleep", true);
  }

  #charged(call: Call, name: string, isPoint: boolean): Call {
    const { suspension } = this.#program;
    const sim = this.#sim;
    const { callNs: plainNs, aheadNsMax } = this.#world.cost;
    const callNs = plainNs * (this.#options.slowness?.(this.rank) ?? 1);
    const { words } = this.#stop;
    return (...args) => {
      if (!suspension.isRewinding) {
        if (name !== "") {
          this.#call = name;
          this.#arguments = args;
        }
        sim.aheadNs += callNs;
        if (isPoint) this.#options.passes(this);
        if (sim.aheadNs >= aheadNsMax) words[0] = 1;
      }
      return call(...args);
    };
  }
}

/** An error of ours is thrown on. */
function howEnded(error: unknown, program: CrashedProgram): HowEnded {
  if (error instanceof Aborted) return { kind: "aborted", code: error.code, message: error.message };
  const ending = endingOfCrash(error, program);
  if (ending === undefined) throw error;
  return ending;
}
