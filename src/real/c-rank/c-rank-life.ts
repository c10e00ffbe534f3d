/**
 * A rank whose program is written in C, from the first call of the program to the rank's ending. Alone in its thread the rank runs in
 * one go (`run`); several in one thread take turns (c-rank-turns.ts).
 */
import type { CProgram } from "../../abi/c-program.ts";
import { Ended } from "../../abi/ended.ts";
import type { Ending } from "../../core/service/ending.ts";
import { steadyMs } from "../machine/steady-clock.ts";
import { isOpen, waitUntilOpen } from "../messages/restore-gate.ts";
import { becomeQuiet, becomeSource } from "../rank/become-quiet.ts";
import { checkpointOf, Stop, stopKind } from "../transport/layout.ts";
import type { CRankSavedState } from "./c-image.ts";
import type { CRankImages } from "./c-rank-images.ts";
import type { CRankProcess } from "./c-rank-process.ts";
import type { WaitingCRank } from "./waiting-c-rank.ts";

/** A source of clones that has not had all answers by then goes on to its next call, and comes back to it there. */
const answersMsMax = 5;

interface LoadedProgram {
  /** Part of the rank's images. */
  readonly end: CRankSavedState["end"];
  readonly program: CProgram;
  readonly images: CRankImages;
  /** The program goes on from an image. */
  readonly isStarted: boolean;
}

export class CRank {
  readonly process: CRankProcess;
  readonly #rank: WaitingCRank;
  readonly #program: CProgram;
  readonly #images: CRankImages;
  readonly #end: CRankSavedState["end"];
  #isStarted: boolean;
  #isDone = false;
  /** Of a program that ended after MPI_Finalize. */
  #exitCode = 0;

  constructor(rank: WaitingCRank, { end, program, images, isStarted }: LoadedProgram) {
    this.process = rank.process;
    this.#rank = rank;
    this.#end = end;
    this.#program = program;
    this.#images = images;
    this.#isStarted = isStarted;
  }

  /** Have all ranks that go on from images together with this one read theirs? Until then nothing of the program may run. */
  get mayRun(): boolean {
    const { restoreGate } = this.#rank.setup;
    return restoreGate === null || isOpen(restoreGate);
  }

  /** Has the program come to its end? */
  get isOver(): boolean {
    return this.#end.isReached;
  }

  /** Lets the program run until it ends or stops. */
  goOn(): void {
    if (this.isOver) return;
    const isStarted = this.#isStarted;
    // biome-ignore lint/suspicious/noDebugger: `banyan run --debug` stops here; the program begins with the next step.
    if (!isStarted && this.#rank.setup.isDebugged) debugger;
    this.#isStarted = true;
    this.#ran(() => (isStarted ? this.#program.goOn() : this.#program.start()));
  }

  /** Its program has run, in turns without JavaScript, and ended or stopped: `run` throws what the program has thrown. */
  hasRun(run: () => void): void {
    this.#ran(() => this.#program.ran(run));
  }

  #ran(run: () => boolean): void {
    try {
      this.#end.isReached = run();
    } catch (error) {
      if (!this.#isOrderlyExit(error)) throw error;
      this.#exitCode = error.ending.code;
      this.#end.isReached = true;
    }
    if (this.isOver) this.#endReached();
  }

  /** The program has returned from `main`, or called `exit`. */
  #endReached(): void {
    const { host, program } = this.process;
    host.whereabouts.hasEnded = true;
    this.#checkEnd();
    if (program.isRunning) this.#rank.say({ kind: "unfinalized" });
  }

  /** Where deaths are survived: a code other than 0 after MPI_Finalize is an end in order, not the death of a member. */
  #isOrderlyExit(error: unknown): error is Ended & { readonly ending: { readonly kind: "exited" } } {
    const { protocol, process } = this.#rank;
    const isExit = error instanceof Ended && error.ending.kind === "exited";
    return isExit && protocol.definition.deaths === "survived" && process.program.isFinalized;
  }

  /** The ending of a rank that has taken its leave of the others. */
  get ending(): Ending {
    return this.#exitCode === 0 ? { kind: "returned" } : { kind: "finalized", code: this.#exitCode };
  }

  /** Alone in its thread: all of the program. */
  run(): Ending {
    const { setup } = this.#rank;
    const { host } = this.process;
    if (setup.restoreGate !== null) waitUntilOpen(setup.restoreGate);
    this.goOn();
    for (;;) {
      const leaving = this.isOver ? this.process.leave() : ({ kind: "stopped" } as const);
      if (leaving.kind === "unfinished") return leaving;
      if (leaving.kind === "left" && !this.#serve()) return this.ending;
      if (this.#isDone && setup.recovery === null) {
        // It is captured with nobody: the checkpoint is given up as soon as the job hears that it is done.
        const { wanted } = host;
        host.settle(() => host.wanted !== wanted);
        continue;
      }
      this.#rank.say({ kind: "stopped", number: checkpointOf(host.wanted) });
      const stoppedMs = steadyMs();
      if (this.#becomesQuiet()) {
        this.writeImage(steadyMs() - stoppedMs);
        host.standStill(() => stopKind(host.wanted) !== Stop.STOP);
        if (host.wanted === Stop.END) {
          this.process.handOver();
          return this.frozen();
        }
        this.carryOn();
      }
      this.goOn();
    }
  }

  #becomesQuiet(): boolean {
    const { host, process } = this.process;
    const { protocol, setup } = this.#rank;
    const { members } = protocol;
    const cloning = setup.recovery === null ? null : (process.protocol?.cloning ?? null);
    if (cloning === null) return becomeQuiet(host, members);
    const { wanted } = host;
    const isSource = becomeSource(host, cloning, members ?? [], answersMsMax);
    // Otherwise a wait of the program would end at once, and the node would hear of a stop each time: it would do nothing else.
    if (!isSource) host.postponeStop(wanted, () => cloning.mustGoOn);
    return isSource;
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

  /** The program is over: sends the report of the protocol, and whether the rank stays. */
  report(): void {
    const { protocol } = this.process.process;
    if (protocol === null) return;
    this.#rank.say({ kind: "report", report: protocol.report() });
    if (!protocol.finishedServe) return;
    // It will be ended from outside.
    this.#rank.sayCompiled();
    this.#rank.say({ kind: "done", incarnation: this.#rank.setup.incarnation });
  }

  /** Others may wait for what the program has not done. */
  #checkEnd(): void {
    const { setup, protocol } = this.#rank;
    const { isInitialized, isFinalized } = this.process.program;
    if (setup.origin !== null && !isInitialized) {
      const why = "it was spawned and ended without MPI_Init; those who spawned it wait for that";
      throw new Ended({ kind: "gave-up", why });
    }
    // A member that leaves without a word has failed: the others would wait for it.
    if (protocol.definition.deaths === "survived" && isInitialized && !isFinalized) {
      throw new Ended({ kind: "gave-up", why: "it ended without MPI_Finalize" });
    }
  }

  /** Nothing is under way in the job, see `CRankImages`. */
  writeImage(settledMs: number): void {
    this.#images.write(settledMs);
  }

  frozen(): Ending {
    this.process.close();
    return { kind: "frozen" };
  }

  carryOn(): void {
    const { collectives, protocol } = this.process.process;
    protocol?.settles(false);
    collectives.arriveAgain();
  }
}
