/**
 * Several ranks of a C program in one thread (`--ranks-per-thread`): they take turns. A rank runs until it would have to wait;
 * then its stack is unwound and the next one has the thread. A rank that looks again and again (`MPI_Test`) instead of waiting
 * gives way after a while; one that computes does not.
 */
import { Settling } from "../../core/process/settling.ts";
import type { Ending } from "../../core/service/ending.ts";
import { steadyMs } from "../machine/steady-clock.ts";
import { InquiryPauses } from "../process/inquiry-pauses.ts";
import { checkpointOf, Stop } from "../transport/layout.ts";
import type { CRank } from "./c-rank-life.ts";
import { loadCRank } from "./load-c-rank.ts";
import type { WaitingCRank } from "./waiting-c-rank.ts";

// biome-ignore lint/suspicious/noExplicitAny: numbers, and BigInt where C has 64 bits
type Call = (...args: any[]) => number;

/** Calls that look and go on. After so many in a row others have a turn. */
const looking = /^MPI_(Test|Testall|Testany|Testsome|Iprobe|Improbe|Request_get_status\w*|Parrived)$/;
const looksMax = 32;

/** Rounds without anything to do after which the thread gives its core away, then sleeps; longer each time. */
const yieldsMax = 200;
const napMsMax = 1;

export class Turns {
  readonly #turns: Turn[];
  readonly #yield: () => void;
  readonly #never = new Int32Array(new SharedArrayBuffer(4));
  #idle = 0;
  readonly #inquiryPauses = new InquiryPauses();

  constructor(ranks: readonly WaitingCRank[], giveWay: () => void) {
    this.#turns = ranks.map((rank) => new Turn(rank));
    this.#yield = giveWay;
  }

  /** Until all have ended. */
  run(): void {
    for (let left = this.#turns; left.length > 0; left = left.filter(({ hasEnded }) => !hasEnded)) {
      let moved = false;
      for (const turn of left) if (turn.take()) moved = true;
      if (moved) this.#idle = 0;
      else this.#wait();
      if (this.#idle > yieldsMax && this.#inquiryPauses.isTime(steadyMs())) for (const turn of left) turn.ask();
    }
  }

  #wait(): void {
    if (this.#idle++ < yieldsMax) this.#yield();
    else Atomics.wait(this.#never, 0, 0, Math.min(napMsMax, (this.#idle - yieldsMax) / 100));
  }
}

class Turn {
  readonly #waiting: WaitingCRank;
  /** Null: the program is not loaded yet. */
  #rank: CRank | null = null;
  #ending: Ending | null = null;
  #hasBegun = false;
  #looks = 0;
  #settling: Settling | null = null;
  #stoppedMs = 0;
  /** Its image is reported: it stands still. */
  #awaitsVerdict = false;

  constructor(waiting: WaitingCRank) {
    this.#waiting = waiting;
  }

  get hasEnded(): boolean {
    return this.#ending !== null;
  }

  /** The ranks of this thread have waited long. */
  ask(): void {
    const isWaiting = this.#hasBegun && this.#settling === null && !this.#awaitsVerdict;
    if (isWaiting) this.#rank?.process.process.inquiries.ask();
  }

  /** True when anything was done. */
  take(): boolean {
    let moved = false;
    this.#ending = this.#waiting.ending(() => {
      const rank = this.#rank;
      if (rank !== null) {
        moved = this.#takeOne(rank);
        return this.#endingOf(rank);
      }
      this.#rank = loadCRank(this.#waiting, (imports) => this.#countLooks(imports.mpi));
      moved = true;
      return null;
    });
    if (this.#ending !== null) this.#waiting.say({ kind: "ending", ending: this.#ending });
    return moved || this.#ending !== null;
  }

  #takeOne(rank: CRank): boolean {
    const { process, stop, host } = rank.process;
    if (!this.#hasBegun) {
      if (!rank.mayRun) return false;
      this.#hasBegun = true;
      this.#go(rank);
      return true;
    }
    host.listen();
    if (this.#settling !== null || this.#awaitsVerdict) return process.engine.progress();
    // Where all have come to the end there is nothing to freeze.
    const isLast = process.finalBarrier >= 0 && process.engine.isComplete(process.finalBarrier);
    if (host.shallStop() && !isLast) {
      this.#waiting.say({ kind: "stopped", number: checkpointOf(host.wanted) });
      this.#stoppedMs = steadyMs();
      this.#settling = new Settling(process);
      return true;
    }
    const moved = process.progress();
    if (rank.isOver || !rank.process.program.suspension.isReady()) return moved;
    stop.words[stop.at] = 0;
    this.#go(rank);
    return true;
  }

  #go(rank: CRank): void {
    this.#looks = 0;
    rank.goOn();
  }

  #endingOf(rank: CRank): Ending | null {
    if (!this.#hasBegun) return null;
    if (this.#settling !== null) this.#settle(rank, this.#settling);
    if (this.#awaitsVerdict) {
      const { wanted } = rank.process.host;
      if (wanted === Stop.END) return rank.frozen();
      if (wanted === Stop.NO) {
        this.#awaitsVerdict = false;
        rank.carryOn();
      }
      return null;
    }
    if (this.#settling !== null) return null;
    if (!rank.isOver) return null;
    const leaving = rank.process.tryToLeave();
    if (leaving.kind === "unfinished") return leaving;
    if (leaving.kind !== "left") return null;
    rank.report();
    return { kind: "returned" };
  }

  #settle(rank: CRank, settling: Settling): void {
    const rest = settling.advance();
    // "over": everybody has come to the end meanwhile.
    if (rest !== "moving") this.#settling = null;
    if (rest !== "quiet") return;
    rank.writeImage(steadyMs() - this.#stoppedMs);
    this.#awaitsVerdict = true;
  }

  #countLooks(imports: Record<string, Call>): void {
    const { words, at } = this.#waiting.process.stop;
    for (const [name, call] of Object.entries(imports)) {
      if (!looking.test(name)) continue;
      imports[name] = (...args) => {
        if (++this.#looks > looksMax) words[at] = 1;
        return call(...args);
      };
    }
  }
}
