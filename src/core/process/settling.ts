/**
 * A process that has stopped comes to rest, so that it can be captured together with others, all of the job or those of a correlated
 * set: nothing is under way any more between any two of them, and the process has taken back its arrivals at boards. `Settling` does this
 * step by step; between the steps its caller lets messages of these processes progress, and nothing else.
 *
 * Every process that has stopped sends every other of them a mark, and waits for theirs. Channels are FIFO, so a mark that has
 * arrived says that all packets sent before it have arrived too, and have been dealt with. Dealing with a packet may have sent an
 * answer (a matched envelope asks for its bytes), so marks go round again, each saying whether its sender still had
 * anything to do, until two rounds in a row say no: of the answers that leave no trace in their sender's records (RELEASE,
 * CANCEL_ANSWER, EAGER_CLOSE and EAGER_OPEN) none is answered itself, and one more round sees them all in.
 *
 * An attempt may be given up (a process does not stop). Its marks are never taken for those of a later one, because every
 * attempt has tags of its own. A process that gives up, or begins another attempt, forgets the marks it has, and does not keep
 * those that come late: no image holds one.
 *
 * No program runs meanwhile: a round ends only when every process has stopped. Envelopes without a receive, receives
 * without a message and sends that wait for their receiver stay as they are; the records of both sides have them.
 */
import { assert } from "../base/assert.ts";
import type { Pointer, RecordId } from "../base/brand.ts";
import { TAG_UB } from "../base/constants.ts";
import { saves } from "../base/saved-classes.ts";
import type { RestRounds } from "../ft/protocol.ts";
import type { Engine } from "../p2p/engine.ts";
import { unordered } from "../request/decisions.ts";
import type { Memory } from "../request/memory.ts";
import { RecordFlag, SendMode } from "../request/records.ts";
import { quietContext } from "./context.ts";
import type { Process } from "./process.ts";
import { Task } from "./task.ts";

const markBytes = 4;
/** Rounds in a row in which no process had anything to do. */
const quietRounds = 2;
/** Marks take no numbers of their channels: a later life must number the program's messages as this one does. */
const markNumber = unordered;
/** Tags of an attempt: more rounds than one ever needs. */
const roundsMax = 1 << 12;

/** Marks of an attempt that was given up: their memory is freed when none of them is being read or written any more. */
class MarksTakenBack extends Task {
  private readonly marks: Pointer;
  private readonly requests: readonly RecordId[];

  constructor(marks: Pointer, requests: readonly RecordId[]) {
    super();
    this.marks = marks;
    this.requests = requests;
  }

  advance({ engine, memory }: Process): boolean {
    if (!this.requests.every((request) => engine.isComplete(request))) return false;
    for (const request of this.requests) engine.giveBack(request);
    memory.free(this.marks);
    return true;
  }
}

/** The rounds of marks of one attempt. */
class MarkRounds {
  readonly #process: Process;
  readonly #engine: Engine;
  readonly #memory: Memory;
  readonly #members: readonly number[];
  readonly #isMember: (rank: number) => boolean;
  /** Marks that come, by member; then ours. */
  readonly #marks: Pointer;
  #requests: RecordId[] = [];
  /** The tag of its first round. */
  readonly #firstRound: number;
  #round: number;
  #quiet = 0;
  #wasBusy = false;
  #isOver = false;
  /** Others that take part, and that these marks do not reach; null: none. */
  readonly #others: RestRounds | null;

  /** `members`: ranks of the processes, this one among them; ascending. `attempt`: the same for all, and higher each time. */
  constructor(process: Process, members: readonly number[], attempt: number, others: RestRounds | null) {
    const { engine, memory } = process;
    this.#others = others;
    const among = new Set(members);
    this.#process = process;
    this.#engine = engine;
    this.#memory = memory;
    this.#members = members;
    this.#isMember = (rank) => among.has(rank);
    this.#marks = memory.allocate(markBytes * (members.length + 1));
    this.#firstRound = (attempt * roundsMax) & TAG_UB;
    this.#round = this.#firstRound;
    engine.envelopes.disregard(quietContext, this.#firstRound);
  }

  /** The attempt is given up. */
  giveUp(): void {
    this.#isOver = true;
    const engine = this.#engine;
    engine.envelopes.disregard(quietContext, (this.#firstRound + roundsMax) & TAG_UB);
    for (const request of this.#requests) {
      // These requests are not the program's, which may end before they do.
      engine.records.addFlag(request, RecordFlag.UNWANTED);
      engine.cancel(request);
    }
    engine.abandon(this.#process.start(new MarksTakenBack(this.#marks, this.#requests)));
    this.#requests = [];
  }

  /** Something has happened that may have been answered: this round is not a quiet one. */
  noticed(): void {
    this.#wasBusy = true;
  }

  /** Goes on as far as it can; true when all is quiet. Progress is the caller's. */
  advance(): boolean {
    while (!this.#isOver) {
      if (this.#requests.length === 0 && !this.#startRound()) return false;
      if (!this.#requests.every((request) => this.#engine.isComplete(request))) return false;
      if (this.#others?.isOver(this.#round) === false) return false;
      this.#take();
    }
    return true;
  }

  /** Not while pieces wait for room: in a narrow channel marks would take it from them for ever. */
  #startRound(): boolean {
    if (this.#engine.completion.isPushing(this.#isMember)) {
      this.#wasBusy = true;
      return false;
    }
    this.#send();
    return true;
  }

  #send(): void {
    const engine = this.#engine;
    const members = this.#members;
    const ours = (this.#marks + markBytes * members.length) as Pointer;
    const isBusyHere = this.#wasBusy || engine.completion.isMoving(this.#isMember);
    this.#wasBusy = false;
    // All that take part must be told the same, or some would be done a round before the others.
    const isBusy = this.#others?.begin(this.#round, isBusyHere) ?? isBusyHere;
    new DataView(this.#memory.bytes.buffer).setInt32(ours, isBusy ? 1 : 0, true);
    for (const [i, rank] of members.entries()) {
      const theirs = (this.#marks + markBytes * i) as Pointer;
      this.#requests.push(engine.startReceive(theirs, markBytes, rank, this.#round, quietContext));
    }
    for (const rank of members) {
      const mode = SendMode.STANDARD;
      this.#requests.push(engine.startNumbered(ours, markBytes, rank, this.#round, quietContext, mode, markNumber));
    }
  }

  #take(): void {
    for (const request of this.#requests) this.#engine.giveBack(request);
    this.#requests = [];
    const areOthersQuiet = this.#others?.isQuiet(this.#round) ?? true;
    this.#round++;
    const marks = new DataView(this.#memory.bytes.buffer, this.#marks, markBytes * this.#members.length);
    const isQuiet = areOthersQuiet && this.#members.every((_, i) => marks.getInt32(markBytes * i, true) === 0);
    assert(this.#round - this.#firstRound < roundsMax, "processes that do not come to rest");
    this.#quiet = isQuiet ? this.#quiet + 1 : 0;
    if (this.#quiet < quietRounds) return;
    this.#isOver = true;
    this.#memory.free(this.#marks);
  }
}

/** "over": every process has come to the end of its program meanwhile; there is nothing to capture. */
export type RestState = "moving" | "quiet" | "over";

export class Settling {
  readonly #process: Process;
  readonly #marks: MarkRounds;
  /** Only where all processes of the job take part can the last barrier of the job end meanwhile. */
  readonly #isForAll: boolean;
  #isQuiet = false;

  /** `members`: the ranks captured together; all of the job unless given. `attempt`: the same for all, and higher each time. */
  constructor(process: Process, members: readonly number[] = process.world.group.worldRanks(), attempt = 0) {
    this.#process = process;
    this.#isForAll = members.length === process.ranks;
    this.#marks = new MarkRounds(process, members, attempt, this.#isForAll ? (process.protocol?.rests ?? null) : null);
    this.#hold(true);
  }

  /** A process that comes to rest by itself keeps nothing from others. */
  #hold(isSettling: boolean): void {
    if (this.#isForAll && this.#process.ranks > 1) this.#process.protocol?.settles(isSettling);
  }

  /** The attempt is given up, and the process goes on. False: all have come to rest, and only this process's boards are left to do. */
  giveUp(): boolean {
    if (this.#isQuiet) return false;
    this.#marks.giveUp();
    this.#hold(false);
    return true;
  }

  advance(): RestState {
    const { engine, collectives, finalBarrier } = this.#process;
    if (!this.#isQuiet) {
      if (this.#isForAll && finalBarrier >= 0) {
        // The last barrier is ours, not the program's: it goes on, and its signals are answered by signals.
        if (this.#process.progressEnd()) this.#marks.noticed();
        if (engine.isComplete(finalBarrier)) {
          // A process that ended without a stop sends no marks, and whoever waits for one has not finished.
          this.#marks.giveUp();
          this.#hold(false);
          return "over";
        }
      }
      if (!this.#marks.advance()) return "moving";
      this.#isQuiet = true;
    }
    return collectives.withdraw() ? "quiet" : "moving";
  }
}

saves({ MarksTakenBack });
