/**
 * Several ranks of a C program in one thread: they take turns. A rank runs until it has to wait and another one has something to do;
 * then its stack is unwound and the other has the thread. A rank that looks again and again (`MPI_Test`) or reads a clock
 * (`MPI_Wtime`) gives way after a while; one that computes does not.
 *
 * Ranks that wait in their data planes change without this file (plane-turns.ts), as long as all ranks of the thread do.
 */
import type { CoroutineHost } from "../../abi/waiting/coroutine-host.ts";
import { Settling } from "../../core/process/settling.ts";
import type { Ending } from "../../core/service/ending.ts";
import { steadyMs } from "../machine/steady-clock.ts";
import { InquiryPauses } from "../process/inquiry-pauses.ts";
import { jointSleepOf } from "../process/joint-socket-sleep.ts";
import type { Napper } from "../process/waiting.ts";
import { checkpointOf, Stop } from "../transport/layout.ts";
import type { CRank } from "./c-rank-life.ts";
import { loadCRank } from "./load-c-rank.ts";
import { PlaneTurns } from "./plane-turns.ts";
import type { WaitingCRank } from "./waiting-c-rank.ts";

// biome-ignore lint/suspicious/noExplicitAny: numbers, and BigInt where C has 64 bits
type Call = (...args: any[]) => number;

/** Calls of the C library by which a program can wait without MPI: they count as looks. */
const lookingCalls = ["clock_time_get", "path_open", "path_filestat_get"];

/** Rounds without anything to do in which the thread gives its core away; then it sleeps. */
const yieldsMax = 200;
/**
 * A look at sockets is a system call for each rank, and a packet wakes the thread at once. (`poisson.c 255`, 8 ranks on 4 nodes and 2 cores, on a busy
 * machine: 6.7 s of processor time with 2, 7.1 with 20, 8.2 with 200.)
 */
const yieldsWithSockets = 2;
/**
 * A packet, room or news wake the thread, and sockets where they can be watched. Other things that its ranks may wait for do not: the time,
 * standard input. It looks that often, less often after a while.
 */
const sleepMs = 1;
const longSleepMs = 5;
const sleepsBeforeLong = 100;

/** How long nothing has happened: words of the plane's turns, where there are any. */
interface Pace {
  /** Rounds without anything to do. */
  idle: number;
  /** Since the last sleep. */
  hasMoved: boolean;
}

/** What a look at a rank has shown: nothing; something moved; its program can go on. */
type Look = "nothing" | "moved" | "ready";

export class Turns {
  readonly #yield: () => void;
  readonly #inquiryPauses = new InquiryPauses();
  #sleep = jointSleepOf([]);
  #hasSockets = false;
  /** All that there were, and those that have not ended. */
  #all: readonly Turn[] = [];
  #turns: readonly Turn[] = [];
  /** Sources of events that wake nobody. */
  #nappers: readonly Napper[] = [];
  #hasEnded = false;
  #pace: Pace = { idle: 0, hasMoved: false };
  /** When its ranks were last told that they had slept. */
  #toldMs = 0;

  constructor(giveWay: () => void) {
    this.#yield = giveWay;
  }

  /** Until all have ended. */
  run(ranks: readonly WaitingCRank[]): void {
    this.#hasSockets = ranks[0]!.setup.handover !== null;
    const plane = this.#planeTurnsOf(ranks);
    if (plane !== null) this.#pace = plane;
    const turnOf = (index: number): Turn => this.#all[index]!;
    const ended = ({ process }: WaitingCRank): void => {
      this.#sleep.leave(process);
      this.#hasEnded = true;
    };
    this.#all = ranks.map((waiting, index) => new Turn({ waiting, index, plane, turnOf, ended }));
    this.#turns = this.#all;
    this.#nappers = ranks.flatMap(({ protocol }) => protocol.napper ?? []);
    this.#sleep = jointSleepOf(ranks.map(({ process }) => process));
    while (this.#turns.length > 0) {
      let moved = false;
      for (const turn of this.#turns) if (!turn.hasEnded && turn.take()) moved = true;
      if (this.#hasEnded) this.#turns = this.#turns.filter((turn) => !turn.hasEnded);
      this.#hasEnded = false;
      if (moved) this.#moved();
      else this.#wait();
    }
  }

  /** Null: no rank of the thread has a data plane. */
  #planeTurnsOf(ranks: readonly WaitingCRank[]): PlaneTurns | null {
    const open = ranks.find(({ process }) => process.plane !== null)?.process.plane ?? null;
    if (open === null) return null;
    const { node, heap } = open;
    const plane: PlaneTurns = new PlaneTurns({
      node,
      turnWords: ranks.map(({ process }) => process.host.whereabouts.turn),
      allocate: (bytes) => heap.allocate(bytes),
      yields: this.#hasSockets ? yieldsWithSockets : yieldsMax,
      mustGiveWay: () => this.mustGiveWay(this.#all[plane.current]!.waiting, () => plane.hasNews(plane.current)),
      moved: () => this.#moved(),
    });
    return plane;
  }

  /**
   * A rank waits, and nothing has moved: shall another one run? If none can, a moment passes here, without unwinding anything. `isOver`: is
   * that the end of the wait?
   */
  mustGiveWay(waiting: WaitingCRank, isOver: () => boolean): boolean {
    let moved = false;
    for (const turn of this.#turns) {
      if (turn.waiting === waiting) {
        if (turn.hearsStop()) return true;
        continue;
      }
      if (turn.hasEnded) continue;
      const look = turn.look();
      if (look === "ready") return true;
      if (look === "moved") moved = true;
    }
    if (!moved) this.#wait();
    if (moved || isOver()) this.#moved();
    return false;
  }

  #moved(): void {
    this.#pace.idle = 0;
    this.#pace.hasMoved = true;
    this.#sleep.awake();
  }

  /** All ranks of the thread wait: what they will need is made ready, a little at a time. */
  #prepares(): boolean {
    let hasWorked = false;
    for (const { waiting } of this.#turns) if (waiting.process.memory.prepare()) hasWorked = true;
    return hasWorked;
  }

  /** A sleep over one source, where there is none over all of them. */
  #naps(): boolean {
    if (this.#sleep.watchesSockets && this.#nappers.every(({ readyFd = -1 }) => readyFd >= 0)) return false;
    for (const napper of this.#nappers) if (napper.nap()) return true;
    return false;
  }

  /** Of the sources that ranks wait for now. */
  #awaitedFds(): number[] {
    return this.#nappers.flatMap((napper) => (napper.takeWaiting() ? (napper.readyFd ?? []) : []));
  }

  #wait(): void {
    const pace = this.#pace;
    if (this.#prepares()) this.#yield();
    else if (pace.idle++ < (this.#sleep.watchesSockets ? yieldsWithSockets : yieldsMax)) this.#yield();
    else if (this.#naps()) return;
    else if (!this.#sleep.isAnnounced) this.#sleep.announce();
    else {
      const isLong = pace.idle > yieldsMax + 2 * sleepsBeforeLong && !this.#hasSockets;
      this.#sleep.sleep(isLong ? longSleepMs : sleepMs, this.#awaitedFds());
      const nowMs = steadyMs();
      // Between nodes a message ends most sleeps at once: several in a millisecond tell no more than one.
      if (nowMs - this.#toldMs < sleepMs) return;
      this.#toldMs = nowMs;
      for (const turn of this.#turns) turn.slept();
      // A thread has several ranks: one that moves keeps no other from asking, nor do its earlier waits make those of others longer.
      if (pace.hasMoved) this.#inquiryPauses.shorten(nowMs);
      pace.hasMoved = false;
      if (this.#inquiryPauses.isTime(nowMs)) for (const turn of this.#turns) turn.ask();
    }
  }
}

interface TurnOptions {
  readonly waiting: WaitingCRank;
  /** Which rank of the thread it is. */
  readonly index: number;
  readonly plane: PlaneTurns | null;
  turnOf(index: number): Turn;
  /** Called once. */
  ended(waiting: WaitingCRank): void;
}

class Turn {
  readonly waiting: WaitingCRank;
  readonly #index: number;
  readonly #plane: PlaneTurns | null;
  readonly #options: TurnOptions;
  readonly #coroutine: CoroutineHost;
  /** Null: the program is not loaded yet. */
  #rank: CRank | null = null;
  #ending: Ending | null = null;
  #hasBegun = false;
  #settling: Settling | null = null;
  /** The order that it settles for. */
  #settlesFor: number = Stop.NO;
  #stoppedMs = 0;
  /** Its image is reported: it stands still. */
  #awaitsVerdict = false;
  /** Its program is over, and others may still need what it has sent (rule 9): it stays until it is ended from outside. */
  #serves = false;

  constructor(options: TurnOptions) {
    const { waiting, index, plane } = options;
    this.waiting = waiting;
    this.#index = index;
    this.#plane = plane;
    this.#options = options;
    this.#coroutine = waiting.process.coroutine!;
  }

  get hasEnded(): boolean {
    return this.#ending !== null;
  }

  /** Its plane waits: the engine hears nothing of that. */
  get #planeWaits(): boolean {
    return this.#plane?.isWaiting(this.#index) === true;
  }

  /**
   * It is running: does the node want it to stop? Hears of deaths as well. In a wait of its plane it hears only of other nodes before its engine
   * waits.
   */
  hearsStop(): boolean {
    if (this.#planeWaits) {
      this.waiting.process.plane!.lookAtSockets();
      return false;
    }
    const { host } = this.waiting.process;
    host.listen();
    return host.shallStop();
  }

  /** The ranks of this thread have waited long. */
  ask(): void {
    const isWaiting = this.#hasBegun && this.#settling === null && !this.#awaitsVerdict;
    if (!isWaiting || this.#rank === null) return;
    if (this.#planeWaits) this.#plane!.leave(this.#index);
    else this.#rank.process.process.inquiries.ask();
  }

  /** All ranks of this thread wait, and it has slept: where this one is, if its engine knows. */
  slept(): void {
    if (this.#planeWaits) {
      this.#plane!.slept(this.#index);
      return;
    }
    if (!this.#hasBegun || this.#settling !== null || this.#awaitsVerdict || this.#coroutine.isLooking) return;
    const { whereabouts, process } = this.waiting.process.host;
    const request = this.#rank?.isOver === true ? process.finalBarrier : this.#coroutine.awaited;
    if (request < 0) whereabouts.slept();
    else whereabouts.slept({ kind: "request", request });
  }

  /** Lets it go on, if it can. True when anything was done. */
  take(): boolean {
    const look = this.look();
    if (look !== "ready") return look === "moved";
    try {
      this.#go();
    } catch (error) {
      this.#end(this.waiting.endingOf(error));
    }
    return true;
  }

  /** Progress of everything but its program: that of another rank may be on the stack. */
  look(): Look {
    if (this.#planeWaits) {
      this.#hearOfOtherNodes();
      if (this.hasEnded) return "moved";
      return this.#plane!.hasNews(this.#index) ? "ready" : "nothing";
    }
    return this.#lookFurther();
  }

  /** What comes from there in a wait of its plane closes its pass, or is no matter of the wait. */
  #hearOfOtherNodes(): void {
    try {
      this.waiting.process.plane!.lookAtSockets();
    } catch (error) {
      this.#end(this.waiting.endingOf(error));
    }
  }

  #lookFurther(): Look {
    const rank = this.#rank;
    if (rank === null) return "ready";
    try {
      const look = this.#lookAt(rank);
      if (look === "ready") return look;
      const ending = this.#endingOf(rank);
      if (ending === null) return look;
      this.#end(ending);
    } catch (error) {
      this.#end(this.waiting.endingOf(error));
    }
    return "moved";
  }

  #end(ending: Ending): void {
    this.#ending = ending;
    this.#plane?.ended(this.#index);
    this.#options.ended(this.waiting);
    this.waiting.sayEnding(ending);
  }

  #lookAt(rank: CRank): Look {
    if (!this.#hasBegun) return rank.mayRun ? "ready" : "nothing";
    const { process, host, program } = rank.process;
    host.listen();
    // A captured rank takes no message: the choice would be in the log before the position from which that is replayed.
    if (this.#awaitsVerdict && this.#fallsInSet) return "nothing";
    if (this.#settling !== null || this.#awaitsVerdict) return process.engine.progress() ? "moved" : "nothing";
    if (host.shallStop() && !this.#isLeaving(rank) && !this.#hasSettledFor(host.wanted)) {
      this.waiting.say({ kind: "stopped", number: checkpointOf(host.wanted) });
      this.#stoppedMs = steadyMs();
      this.#settlesFor = host.wanted;
      this.#settling = new Settling(process, this.waiting.protocol.members, checkpointOf(host.wanted));
      return "moved";
    }
    const moved = process.progress();
    if (!rank.isOver && program.suspension.isReady()) return "ready";
    return moved ? "moved" : "nothing";
  }

  /** Everybody has come to the end meanwhile: the order is for nothing. */
  #hasSettledFor(wanted: number): boolean {
    return this.#serves && this.#settlesFor === wanted;
  }

  /** Is it captured with its set alone, which may be started again alone? */
  get #fallsInSet(): boolean {
    return this.waiting.setup.recovery !== null;
  }

  /** Where all have come to the end there is nothing to freeze. Of those that serve there are images as of others. */
  #isLeaving({ process: { process } }: CRank): boolean {
    return !this.#serves && process.finalBarrier >= 0 && process.engine.isComplete(process.finalBarrier);
  }

  #go(): void {
    if (this.#rank === null) {
      this.#rank = loadCRank(this.waiting, {
        change: (imports) => this.#countLooks(imports.wasi_snapshot_preview1),
        turn: this.#plane?.turnOf(this.#index) ?? null,
      });
      return;
    }
    this.#hasBegun = true;
    const { whereabouts } = this.waiting.process.host;
    whereabouts.goOn();
    if (this.#planeWaits) {
      this.#runPlanes(this.#plane!);
      return;
    }
    this.waiting.process.process.openPass();
    this.#plane?.begin(this.#index);
    this.#rank.goOn();
    if (!this.#rank.isOver) whereabouts.giveWay();
  }

  /** Nothing has changed for one whose plane waits. Others have turns after it, without JavaScript: it may be one of these that ends or stops. */
  #runPlanes(plane: PlaneTurns): void {
    let act = (): void => {};
    try {
      plane.run(this.#index);
    } catch (error) {
      act = () => {
        throw error;
      };
    }
    this.#options.turnOf(plane.current).#hasRun(act);
  }

  #hasRun(run: () => void): void {
    const rank = this.#rank!;
    try {
      rank.hasRun(run);
      if (!rank.isOver) this.waiting.process.host.whereabouts.giveWay();
    } catch (error) {
      this.#end(this.waiting.endingOf(error));
    }
  }

  #endingOf(rank: CRank): Ending | null {
    if (!this.#hasBegun) return null;
    if (this.#settling !== null) this.#settle(rank, this.#settling);
    if (this.#awaitsVerdict) {
      const { wanted } = rank.process.host;
      // Ranks of other nodes take their leave too, and those of this thread must be able to answer them.
      if (wanted === Stop.END) return rank.process.tryToHandOver() ? rank.frozen() : null;
      if (wanted === Stop.NO) {
        this.#awaitsVerdict = false;
        rank.carryOn();
      }
      return null;
    }
    if (this.#settling !== null || !rank.isOver) return null;
    if (this.#serves) return rank.process.host.wanted === Stop.END ? rank.ending : null;
    const leaving = rank.process.tryToLeave();
    if (leaving.kind === "unfinished") return leaving;
    if (leaving.kind !== "left") return null;
    rank.report();
    this.#serves = rank.process.process.protocol?.finishedServe === true;
    return this.#serves ? null : rank.ending;
  }

  #settle(rank: CRank, settling: Settling): void {
    const rest = settling.advance();
    // "over": everybody has come to the end meanwhile. Or a process has died, and the node wants no image any more.
    const isGivenUp = (): boolean => rank.process.host.wanted !== this.#settlesFor && settling.giveUp();
    if (rest !== "moving" || isGivenUp()) this.#settling = null;
    if (rest !== "quiet") return;
    rank.writeImage(steadyMs() - this.#stoppedMs);
    this.#awaitsVerdict = true;
  }

  #countLooks(imports: Record<string, Call>): void {
    for (const name of lookingCalls) {
      const call = imports[name]!;
      imports[name] = (...args) => {
        this.#coroutine.glance();
        return call(...args);
      };
    }
  }
}
