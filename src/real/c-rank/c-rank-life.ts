/**
 * A rank whose program is written in C, from its first breath to its ending: everything but who gives it time. Alone in its
 * thread it runs in one go (`run`); several in one thread take turns (c-rank-turns.ts).
 */

import { readFileSync } from "node:fs";
import { availableParallelism, constants, hostname } from "node:os";
import { join } from "node:path";
import type { MessagePort } from "node:worker_threads";
import { importsOf } from "../../abi/c-imports.ts";
import { CProgram, canStop, newStack } from "../../abi/c-program.ts";
import { Ended } from "../../abi/ended.ts";
import { ReplayedFiles } from "../../abi/replay/replayed-files.ts";
import { SeededRandom } from "../../core/base/seeded-random.ts";
import { noSpawner, type SpawnAnswer, type Spawner } from "../../core/process/spawner.ts";
import type { Ending } from "../../core/service/ending.ts";
import { ImageError } from "../../image/image-error.ts";
import { StateError } from "../../image/state/state-error.ts";
import { Descriptors } from "../../wasi/descriptors.ts";
import { environmentOf } from "../../wasi/environment.ts";
import type { Files, Library } from "../../wasi/ports.ts";
import { steadyMs } from "../machine/steady-clock.ts";
import { newYield } from "../machine/yield.ts";
import { bellOf } from "../messages/node-words.ts";
import type { FromRank, GoOnAfter, RankSetup } from "../messages/rank-messages.ts";
import { isOpen, restored, waitUntilOpen } from "../messages/restore-gate.ts";
import { LineWriter, newLinePlaces } from "../output/line-ring.ts";
import { type OutputGate, outputGate } from "../output/output-gate.ts";
import { becomeQuiet } from "../rank/become-quiet.ts";
import { endingOfError } from "../rank/error-report.ts";
import { watchCalls } from "../rank/fault-watch.ts";
import { RankInbox } from "../rank/rank-inbox.ts";
import { beginLife, protocolOf, type RankProtocol } from "../rank/rank-protocol.ts";
import { checkpointOf, Stop, stopKind } from "../transport/layout.ts";
import { copyImage, hashOf, type ImageOptions, type Life, readLife, takeImage } from "./c-image.ts";
import { type InputPlace, newInputPlace, newLibrary } from "./c-library.ts";
import { type CRankProcess, createCRank } from "./c-rank-process.ts";
import { filesOf } from "./node-files.ts";

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
  readonly #inbox: RankInbox;
  readonly #lines: LineWriter;
  readonly #input: InputPlace;
  #life!: Life;
  #library!: Library;
  #program!: CProgram;
  #module!: Uint8Array;
  readonly #takesTurns: boolean;
  readonly #protocol: RankProtocol;
  #isStarted = false;
  #isDone = false;
  #shadow: WebAssembly.Memory | null = null;

  constructor({ setup, port, takesTurns, abort }: CRankOptions) {
    this.setup = setup;
    this.#port = port;
    this.#inbox = new RankInbox(port, setup.programMemories);
    this.#takesTurns = takesTurns;
    this.#lines = new LineWriter(setup.lines, bellOf(setup.words));
    this.#input = newInputPlace(setup.rank);
    this.#protocol = protocolOf(setup, (message) => this.say(message));
    this.process = createCRank(
      {
        rank: setup.rank,
        ranks: setup.ranks,
        placement: setup.placement,
        nodeMap: setup.nodeMap,
        incarnation: setup.incarnation,
        incarnations: setup.recovery?.incarnations ?? [],
        protocol: this.#protocol.protocol,
        mayUseBoards: this.#protocol.mayUseBoards,
        napper: this.#protocol.napper,
        set: this.#protocol.set,
        memory: setup.memory,
        handover: setup.handover,
        tell: (message) => this.say(message),
        traceFile: setup.traceFile,
        abort: (code, message) => {
          this.say({ kind: "abort", code, message });
          return abort();
        },
        result() {},
        checkpoint() {},
        restored: () => null,
        spawner: this.#newSpawner(),
      },
      { memoryOf: (place) => this.#inbox.memoryOf(place), takesTurns },
    );
  }

  #newSpawner(): Spawner {
    const { ranks, placement, origin } = this.setup;
    const { spawn: refusal } = this.#protocol.definition.refusals;
    if (refusal !== null) return noSpawner(ranks, refusal);
    return {
      universe: Math.min(placement.length, ranks + availableParallelism()),
      origin,
      check() {},
      spawn: (request) => {
        this.say({ kind: "spawn", request });
        let answer: SpawnAnswer | undefined;
        this.process.host.settle(() => {
          answer = this.#inbox.nextAnswer();
          return answer !== undefined;
        });
        return answer!;
      },
    };
  }

  say(message: FromRank): void {
    this.#port.postMessage(message);
  }

  /** The program is there: its module is compiled, and a thawed rank reads its image. `change` may wrap imports. */
  load(change: (imports: Imports) => void = () => {}): void {
    const { setup, process } = this;
    const { rank, program, freezeTo, recovery } = setup;
    const thawFrom = recovery === null ? setup.thawFrom : recovery.imageFolder;
    const { memory, program: binding } = process;
    const bytes = readFileSync(program.bundle.wasm);
    const random = SeededRandom.ofRank(setup.seed, rank);
    this.#library = this.#newLibrary(process.process.choices === null ? null : random);
    const descriptors = new Descriptors(this.#library.files, setup.folders);
    this.#life = {
      stack: newStack(memory),
      end: { isReached: false },
      clock: { nowS: 0, steadyNs: 0n },
      descriptors,
      pause: { untilNs: 0n },
      lines: this.#lines.places,
      input: this.#input,
      random,
    };
    this.#isStarted = thawFrom !== "";
    this.#module = bytes;
    if (this.#isStarted) this.#read(thawFrom);
    if (setup.restoreGate !== null) restored(setup.restoreGate);
    // Who was frozen prints for another job now, and reads another input when it has read what it had.
    if (recovery === null) {
      Object.assign(this.#lines.places, newLinePlaces());
      this.#input.offset = 0;
    }
    beginLife(process.process.protocol, setup, (message) => this.say(message));
    // Threads of the process share its code: V8 knows the bytes.
    const module = new WebAssembly.Module(bytes);
    const mustStop = this.#takesTurns ? "take turns" : freezeTo !== "" || recovery !== null ? "be frozen" : "";
    if (mustStop !== "" && !canStop(module)) {
      throw new Ended({ kind: "gave-up", why: `it cannot ${mustStop}: it was linked with --no-capture` });
    }
    const world = { rank, hostName: hostname(), signalName };
    const imports = importsOf(module, { ...world, ...this.#life, memory, library: this.#library, program: binding });
    this.#watch(imports);
    change(imports);
    this.#program = new CProgram(module, imports, binding, memory, this.#life.stack);
    this.say({ kind: "runs" });
  }

  #watch({ mpi }: Imports): void {
    const { watch } = this.setup;
    if (watch === null) return;
    const { host, program } = this.process;
    watchCalls(mpi, watch, {
      say: (message) => this.say(message),
      standStill: () => {
        let next: GoOnAfter | undefined;
        host.settle(() => {
          next = this.#inbox.nextGoOn();
          return next !== undefined;
        });
        return next!.call;
      },
      isRepeated: () => program.suspension.isRewinding,
    });
  }

  #read(folder: string): void {
    try {
      readLife(this.process, this.#life, this.#library, this.#imageIn(folder));
    } catch (error) {
      const checkpoint = this.setup.recovery?.restart?.checkpoint ?? 0;
      if (checkpoint === 0 || !(error instanceof ImageError || error instanceof StateError)) throw error;
      // Its set will begin again with an older one; this life is over.
      this.say({ kind: "image-unreadable", checkpoint, problem: error.message });
      this.process.host.settle(() => false);
    }
  }

  /** The hash takes a millisecond or two: only who has an image pays for it. */
  #imageIn(folder: string): ImageOptions {
    const { rank, ranks, folders } = this.setup;
    return { rank, ranks, program: hashOf(this.#module), folder, folders };
  }

  #newLibrary(random: SeededRandom | null): Library {
    const { run, program, folders, environment } = this.setup;
    const { host } = this.process;
    const mayLeave = outputGate(this.process.process.protocol, host);
    return newLibrary({
      run,
      args: [program.path, ...program.args],
      environment: environmentOf(environment ?? process.env, folders),
      lines: this.#lines,
      input: this.#input,
      inbox: this.#inbox,
      say: (message) => this.say(message),
      suspension: this.process.program.suspension,
      mayLeave,
      files: this.#newFiles(mayLeave),
      settle: this.#protocol.protocol === null ? null : (isOver) => host.settle(isOver),
      takesTurns: this.#takesTurns,
      yield: newYield(),
      random,
    });
  }

  #newFiles(mayLeave: OutputGate): Files {
    const { choices } = this.process.process;
    const { recovery, folders } = this.setup;
    let hasTold = false;
    const files = filesOf(folders, (path, target) => {
      if (!hasTold) this.say({ kind: "leads-out", path, target });
      hasTold = true;
    });
    if (choices === null || recovery === null) return files;
    const { beganMs } = recovery;
    return new ReplayedFiles({ files, choices, beganMs, mayLeave: () => mayLeave("file") });
  }

  /** Have all that go on from images together with this rank read theirs? Until then nothing of it may run. */
  get mayRun(): boolean {
    return this.setup.restoreGate === null || isOpen(this.setup.restoreGate);
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
      if (this.setup.restoreGate !== null) waitUntilOpen(this.setup.restoreGate);
      this.goOn();
      for (;;) {
        if (this.isOver) this.#checkParentsMet();
        const leaving = this.isOver ? this.process.leave() : ({ kind: "stopped" } as const);
        if (leaving.kind === "unfinished") return leaving;
        if (leaving.kind === "left" && !this.#serve()) return { kind: "returned" };
        this.say({ kind: "stopped" });
        const stoppedMs = steadyMs();
        if (becomeQuiet(host, this.#protocol.members)) {
          this.writeImage(steadyMs() - stoppedMs);
          host.standStill(() => stopKind(host.wanted) !== Stop.STOP);
          if (host.wanted === Stop.END) return this.frozen();
          this.carryOn();
        }
        this.goOn();
      }
    });
  }

  /** Rule 9: a rank that has finished serves, where others may need what it has sent. True: it shall stop; false: all is over. */
  #serve(): boolean {
    const { host, process } = this.process;
    if (!this.#isDone) this.report();
    this.#isDone = true;
    if (process.protocol?.finishedServe !== true) return false;
    host.waitUntil(() => false);
    return host.wanted !== Stop.END;
  }

  /** The program is over: what the protocol has to say, and whether the rank stays. */
  report(): void {
    const { protocol } = this.process.process;
    if (protocol === null) return;
    this.say({ kind: "report", report: protocol.report() });
    if (protocol.finishedServe) this.say({ kind: "done", incarnation: this.setup.incarnation });
  }

  /** Those who spawned it wait for its MPI_Init. */
  #checkParentsMet(): void {
    if (this.setup.origin === null || this.process.program.isInitialized) return;
    const why = "it was spawned and ended without MPI_Init; those who spawned it wait for that";
    throw new Ended({ kind: "gave-up", why });
  }

  /**
   * Nothing is under way in the job: writes the image and says how that went. The rank stands still until all have; then the
   * node says whether it ends or, where an image could not be written, goes on. Nobody loses a run to a full disk.
   */
  writeImage(settledMs: number): void {
    const number = checkpointOf(this.process.host.wanted);
    const { protocol } = this.process.process;
    const [position, callsPassed] = [protocol?.captured(number) ?? 0, protocol?.callsPassed ?? 0];
    const facts = { number, position, callsPassed, inputOffset: this.#input.offset, settledMs };
    const where = this.#imageIn(this.#folderOf(number));
    let problem = "";
    try {
      const shadow = number === 0 ? null : this.#shadowMemory();
      if (shadow !== null) {
        const image = copyImage(this.process, this.#life, this.#library, where, shadow);
        this.say({ kind: "captured", ...facts, image });
        return;
      }
      takeImage(this.process, this.#life, this.#library, where);
    } catch (error) {
      if (!(error instanceof ImageError || error instanceof StateError)) throw error;
      problem = error.message;
    }
    this.say({ kind: "image", problem, ...facts });
  }

  /** For a copy that others write while the program goes on; null: there is no room for one, and the program waits. */
  #shadowMemory(): WebAssembly.Memory | null {
    const pages = this.process.memory.memory.buffer.byteLength / 65536;
    try {
      this.#shadow ??= new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    return this.#shadow;
  }

  /** Where an image is written: of the job, or of a checkpoint of the rank's set. */
  #folderOf(checkpoint: number): string {
    const { recovery, freezeTo, rank } = this.setup;
    if (recovery === null || checkpoint === 0) return freezeTo;
    return join(recovery.checkpointFolder, `set-${recovery.setOf[rank]}`, String(checkpoint));
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
