/**
 * The dispatcher's decisions: deaths, the job's exit code, the time to end. It is fed events and their times (milliseconds
 * of any monotonic clock), and calls its ports; it reads no clock and does no I/O, so that the simulator runs it as well. The
 * host around it is `real/job`.
 *
 * A job is *running* until something decides its outcome; then it is *ending*: every node has been told to end, those that
 * do not are killed; when the last node is gone it is *ended*. The first decision stands, whatever happens while ending.
 *
 * Deaths are declared here and nowhere else, in one order, each with the incarnation that died. A node is dead when its
 * process is gone or its heartbeats stop. Silence is counted in the watcher's own waking time: a tick that comes late
 * counts as two periods at most, so a node that was stopped together with the watcher, or could not be heard while it was busy,
 * is forgiven. The host must read all arrived messages before it ticks. Where ranks leave a node's main thread no processor it is
 * silent too; therefore a silent node is not dead unless the operating system has not seen it at work for half the patience.
 * The same holds for a node that has not spoken yet, with a longer patience: a loaded machine starts processes slowly.
 *
 * A decision is a record (`dispatcher-state.ts`). It is written down first, then the state is changed by it, then the world hears of
 * it: a dispatcher that takes over from one that has crashed may have to repeat an order, and never has to take one back.
 */

import { assert } from "../base/assert.ts";
import type { DeathPolicy } from "../ft/definition.ts";
import type { SetSplit } from "../ft/set-split.ts";
import {
  applyToDispatcher,
  type DispatcherRecord,
  type DispatcherState,
  type Fall,
  type JobBegan,
  newDispatcherState,
  type RankState,
} from "./dispatcher-state.ts";
import { codeFromNumber, codeOfEnding, type Ending } from "./ending.ts";
import { Falls } from "./falls.ts";
import type { Death, JobOutcome, NodeLoss, Reason } from "./outcome.ts";
import { type Placement, ranksOfNode } from "./placement.ts";
import { type Patience, Silence } from "./silence.ts";

export interface DispatcherOptions extends Patience {
  /** Of each process that there can be. */
  readonly placement: Placement;
  /** How many of them are there from the start; the others may be admitted later. */
  readonly ranks: number;
  readonly nodes: number;
  /** Nodes send a heartbeat this often, and the host ticks this often. */
  readonly heartbeatMs: number;
  /** How long nodes may take to end in order before they are killed. */
  readonly endPatienceMs: number;
  /** The whole job may take this long; Infinity: no limit. */
  readonly timeoutMs: number;
  readonly deaths: DeathPolicy;
  /** Where deaths are covered: the rank that each process plays. What is called a rank elsewhere in this file is a process then. */
  readonly plays?: readonly number[] | undefined;
  /** Which ranks fall together where the dead are replaced; undefined: those of a node. */
  readonly setOf?: readonly number[] | undefined;
  /** A node that is silent for too long is dead, and yet left alive: to see that it does no harm. False unless given. */
  readonly keepSuspects?: boolean | undefined;
  /** When the job began, by the calendar: for the journal. */
  readonly calendarMs?: number | undefined;
}

export interface DispatcherPorts {
  /** A decision, to be written down before this returns: its orders follow. */
  record(record: DispatcherRecord): void;
  /** Every node that lives must hear of this death. */
  tell(death: Death): void;
  /**
   * Where deaths are survived, and there are some: the program of that rank is over, behind the last meeting of its world. Every node
   * that lives must hear of it, because ranks in that meeting may wait for an answer of this one.
   */
  left(rank: number): void;
  /**
   * A new node shall take the place of one that is gone, or will be in a moment: these ranks begin their next life there. Where a
   * correlated set spans nodes, some of them have their places on other nodes, and begin as `restartRanks` says.
   */
  restart(node: number, ranks: readonly number[]): void;
  /**
   * A rank of that node has fallen, and the node lives, and so do its other ranks: these ranks, all of a correlated set, begin
   * their next life where they were. Threads that they still have must go first.
   */
  restartRanks(node: number, ranks: readonly number[]): void;
  /** Where deaths are survived: ranks of that node are dead by decision, and told to be; the threads that they still have must go. */
  endRanks(node: number, ranks: readonly number[]): void;
  /** The outcome is decided; told once, before the first `end`. */
  decided(outcome: JobOutcome): void;
  /** A failure that does not end the job, for events and logs. */
  survived(reason: Reason, afterMs: number): void;
  /**
   * What the operating system has seen the node do: a number that changes while the node runs, or waits for a processor or a
   * disk. Asked of silent nodes only. A host that cannot tell always says the same.
   */
  work(node: number): number;
  /** Does the job wait for a process in that place? Nobody is silent there. False unless given. */
  isVacant?(node: number): boolean;
  /** The node must end in order: stop its ranks, hand over what they printed, leave. */
  end(node: number): void;
  /** The node must be gone, whatever state it is in. */
  kill(node: number): void;
  /** The node counts as dead and is left alive: whatever it says from now on is refused. Told before its ranks' deaths. */
  disown(node: number): void;
  /** The last node is gone. */
  ended(outcome: JobOutcome): void;
}

/** A dispatcher that has crashed, as its journal knows it. */
export interface Predecessor {
  readonly state: DispatcherState;
  /** When the job began, on the clock of the successor. */
  readonly startMs: number;
}

export class Dispatcher {
  /** Must hear how far ranks have come. */
  readonly falls: Falls;
  readonly #options: DispatcherOptions;
  readonly #ports: DispatcherPorts;
  readonly #startMs: number;
  /** Changed by records only. */
  readonly #state: DispatcherState;
  readonly #silences: Silence[];
  #lastTickMs: number;
  #endingForMs = 0;
  #allEnded = false;

  /** A successor knows what its predecessor had written down; what it does next is in `takeover.ts`. */
  constructor(options: DispatcherOptions, ports: DispatcherPorts, nowMs: number, predecessor?: Predecessor) {
    this.#options = options;
    this.#ports = ports;
    this.#startMs = predecessor?.startMs ?? nowMs;
    this.#lastTickMs = nowMs;
    const { ranks, nodes, placement, setOf = [], calendarMs = 0 } = options;
    if (predecessor === undefined) {
      const began: JobBegan = { kind: "began", ranks, nodes, placement, setOf, calendarMs };
      ports.record(began);
      this.#state = newDispatcherState(began);
    } else this.#state = predecessor.state;
    assert(
      this.#state.nodes.length === nodes && this.#state.ranks.length === placement.length,
      "a journal of this job",
    );
    this.falls = new Falls(this.#state.falls, (record) => this.#record(record));
    this.#silences = Array.from({ length: nodes }, () => new Silence(options));
  }

  /** All that a successor must know. Not to be changed. */
  get state(): DispatcherState {
    return this.#state;
  }

  /** A successor begins its term: from now on it decides. An outcome that its predecessor had decided is ordered again. */
  takeOver(): void {
    this.#record({ kind: "took-over", term: this.#state.term + 1 });
    if (this.outcome !== undefined) this.#end(this.outcome);
  }

  /**
   * A successor begins its term, and every process of the job is gone: all nodes fall, and nothing is held against them. An outcome is
   * taken back: a job that ended well has left nothing to take over, so its end was not carried out.
   */
  resume(nowMs: number): void {
    this.#record({ kind: "took-over", term: this.#state.term + 1 });
    if (this.outcome !== undefined) this.#record({ kind: "reopened" });
    for (const node of this.#state.nodes.keys()) this.falls.excused(node);
    for (const node of this.#state.nodes.keys()) this.nodeEnded(node, { kind: "switched-off" }, nowMs);
    this.carryOutMoves(nowMs);
  }

  /**
   * The predecessor has written down that ranks are moved, and crashed before it wrote that they fall: of a node that was to be started for them nobody says that it has ended. They
   * begin there now.
   */
  carryOutMoves(nowMs: number): void {
    if (this.#options.deaths !== "replaced" || this.outcome !== undefined) return;
    for (const node of this.#state.nodes.keys()) {
      if (!this.isNodeAlive(node) && this.#missedOf(node).length > 0) this.restartMoved(node, nowMs);
    }
  }

  get outcome(): JobOutcome | undefined {
    return this.#state.outcome;
  }

  /** Anything at all has come from that node. */
  heard(node: number): void {
    this.#silences[node]!.heard();
  }

  /** `count` processes are about to be started on nodes that live: their numbers, or undefined where too few are free. */
  admit(count: number): number[] | undefined {
    const free = this.#free();
    if (this.outcome !== undefined || free.length < count) return undefined;
    const admitted = free.slice(0, count);
    this.#record({ kind: "admitted", ranks: admitted });
    return admitted;
  }

  /** How many more could be admitted. */
  get spares(): number {
    return this.#free().length;
  }

  /** Not all of these processes could be started: their ends mean nothing. Their numbers are spent. */
  withdraw(admitted: readonly number[]): void {
    this.#record({ kind: "withdrawn", ranks: admitted });
  }

  #free(): number[] {
    const { placement } = this.#state;
    const isFree = (rank: number): boolean =>
      this.#state.ranks[rank]!.state === "absent" && this.isNodeAlive(placement[rank]!);
    return [...placement.keys()].filter(isFree);
  }

  /** A rank's thread has ended, well or badly. Of an old life, or of one already dead, it means nothing. */
  rankEnded(rank: number, incarnation: number, ending: Ending, nowMs: number): void {
    const it = this.#state.ranks[rank]!;
    const isServing = it.state === "done" && ending.kind === "vanished";
    if ((it.state !== "running" && !isServing) || it.incarnation !== incarnation) return;
    const code = codeOfEnding(ending);
    if (code === 0) {
      this.#over(rank, { how: ending.kind === "frozen" ? "frozen" : "finished", code }, nowMs);
      return;
    }
    const node = this.#state.placement[rank]!;
    const reason: Failure = { kind: "rank-failed", rank, node, ending };
    // No member of a communicator is missing: all have left MPI, or are about to.
    if (ending.kind === "finalized" && this.#options.deaths === "survived") {
      this.#over(rank, { how: "finished", code, reason }, nowMs);
      return;
    }
    const { deaths } = this.#options;
    // A program's own end is not a failure (rule 10); a thread that was terminated from outside is one.
    if ((deaths === "replaced" || deaths === "covered") && ending.kind !== "vanished") {
      this.#decide(reason, code, nowMs);
    } else if (deaths === "replaced") {
      this.#setLost(rank, reason, nowMs);
    } else if (this.outcome === undefined) this.#fall({ node, ranks: [rank], reason, code }, nowMs);
    else this.#record({ kind: "rank-over", rank, how: "failed", code: 0, outcome: null });
  }

  /** The program of a rank is over, and the rank stays to serve ranks whose programs are not. */
  rankDone(rank: number, incarnation: number, nowMs: number): void {
    const it = this.#state.ranks[rank]!;
    if (it.state === "running" && it.incarnation === incarnation) this.#over(rank, { how: "done", code: 0 }, nowMs);
  }

  isRankAlive(rank: number): boolean {
    return this.#isMissed(rank) && this.isNodeAlive(this.#state.placement[rank]!);
  }

  isNodeAlive(node: number): boolean {
    return !this.#state.nodes[node]!.gone;
  }

  /** The operating system says that the node's process is gone. */
  nodeEnded(node: number, loss: NodeLoss, nowMs: number): void {
    if (!this.isNodeAlive(node)) return;
    const ranks = this.#missedOf(node);
    // The end of a node whose ranks have all finished means nothing.
    if (this.outcome !== undefined || ranks.length === 0) this.#record({ kind: "node-gone", node });
    else this.#nodeLost({ node, ranks, loss, isGone: true }, nowMs);
    this.#endIfAllGone();
  }

  /**
   * Where the dead are replaced: these ranks have their places on that node from now on, and perhaps one of them is a set of its own. The next number is that of a node which was not there
   * before. `restartMoved` must follow at once.
   */
  moveRanks(ranks: readonly number[], node: number, split: SetSplit | null): void {
    assert(this.#options.deaths === "replaced" && this.outcome === undefined, "moved ranks begin again");
    this.#record({ kind: "moved", ranks, node, split });
    if (node === this.#silences.length) this.#silences.push(new Silence(this.#options));
  }

  /** All that has its place on that node begins again, in another process. */
  restartMoved(node: number, nowMs: number): void {
    this.falls.excused(node);
    this.#nodeLost({ node, ranks: this.#missedOf(node), loss: { kind: "moved" }, isGone: true }, nowMs);
  }

  /** A node whose ranks have been moved: those that it still has begin again in another process, without any it goes. */
  leftByMoved(node: number, nowMs: number): void {
    this.falls.excused(node);
    this.nodeEnded(node, { kind: "moved" }, nowMs);
  }

  // Where deaths are covered

  /**
   * The job goes on from a checkpoint of one process of each rank: the others are dead from the start, and so are nodes that have none but these. Before
   * any process has begun.
   */
  goesOnWithout(absent: readonly number[], nowMs: number): void {
    const isAbsent = new Set(absent);
    const afterMs = nowMs - this.#startMs;
    for (const node of this.#state.nodes.keys()) {
      const here = this.#ranksOn(node);
      const ranks = here.filter((rank) => isAbsent.has(rank));
      if (ranks.length === 0) continue;
      const first = this.#state.deaths.length;
      const fall: Fall = {
        kind: "fall",
        node,
        isGone: ranks.length === here.length,
        deaths: ranks.map((rank, i) => ({ order: first + i, rank, incarnation: this.#state.ranks[rank]!.incarnation })),
        returns: false,
        replaced: [],
        passed: [],
        reason: { kind: "node-failed", node, ranks, loss: { kind: "switched-off" } },
        afterMs,
        outcome: null,
      };
      this.#record(fall);
      for (const death of fall.deaths) this.#ports.tell(death);
    }
  }

  // Where deaths are covered, and the dead come back

  /** A node that is gone gets another process, for those of its ranks that come back. False: it is not gone, or the job ends. */
  nodeAgain(node: number): boolean {
    if (this.outcome !== undefined || this.isNodeAlive(node)) return false;
    this.#record({ kind: "node-again", node });
    this.#silences[node] = new Silence(this.#options);
    return true;
  }

  /** A process comes to a node that was not there before, or is gone: ranks will have their places there. False: the job ends. */
  openNode(node: number): boolean {
    if (this.outcome !== undefined) return false;
    if (node >= this.#state.nodes.length) this.#record({ kind: "moved", ranks: [], node, split: null });
    while (this.#silences.length <= node) this.#silences.push(new Silence(this.#options));
    return this.nodeAgain(node);
  }

  /** A living rank goes on on that node, in that life. False: the job ends, or it is dead. */
  rankMoved(rank: number, node: number, incarnation: number): boolean {
    if (this.outcome !== undefined || this.#state.ranks[rank]!.state !== "running") return false;
    this.#record({ kind: "moved", ranks: [rank], node, split: null });
    this.#record({ kind: "returned", rank, incarnation });
    return true;
  }

  /** That life of a dead rank begins. False: the job ends. */
  rankReturned(rank: number, incarnation: number): boolean {
    if (this.outcome !== undefined || this.#state.ranks[rank]!.state !== "dead") return false;
    this.#record({ kind: "returned", rank, incarnation });
    return true;
  }

  /** Ranks have been told to expect that life, and it will not begin. */
  rankMissed(rank: number, incarnation: number): void {
    const death = { order: this.#state.deaths.length, rank, incarnation };
    this.#record({ kind: "missed", death });
    this.#ports.tell(death);
  }

  /**
   * MPI_Abort: the job ends with that code, whatever the protocol. Where deaths are survived, and ranks run that are not members of the
   * communicator, only its members end. No members: all are meant.
   */
  aborted(rank: number, { code, message, members }: Abort, nowMs: number): void {
    const node = this.#state.placement[rank]!;
    const ranks = [...new Set([rank, ...members])].filter((each) => this.#state.ranks[each]?.state === "running");
    const isPartial = this.#options.deaths === "survived" && members.length > 0 && this.#runsAnyBut(new Set(ranks));
    if (!isPartial) this.#decide({ kind: "aborted", rank, node, message }, codeFromNumber(code), nowMs);
    else if (this.outcome === undefined && ranks.includes(rank)) this.#abortSome(rank, ranks, { code, message }, nowMs);
  }

  #abortSome(rank: number, ranks: readonly number[], { code, message }: Omit<Abort, "members">, nowMs: number): void {
    const { placement } = this.#state;
    const ending: Ending = { kind: "aborted", code, message, ranks };
    const node = placement[rank]!;
    this.#fall({ node, ranks, reason: { kind: "rank-failed", rank, node, ending }, code: codeOfEnding(ending) }, nowMs);
    for (const each of new Set(ranks.map((member) => placement[member]!))) {
      const here = ranks.filter((member) => placement[member] === each);
      this.#ports.endRanks(each, here);
    }
  }

  /** The user, or the program that called `launch`, wants an end. For a job that is ending already that means at once. */
  interrupted(signal: string, signalNumber: number, nowMs: number): void {
    if (this.outcome === undefined) this.#decide({ kind: "interrupted", signal }, 128 + signalNumber, nowMs);
    else this.#killAll();
  }

  /** Nobody reads the output any more (`| head`): as if SIGPIPE had ended us. */
  outputClosed(nowMs: number): void {
    this.#decide({ kind: "output-closed" }, 128 + 13, nowMs);
  }

  /** The program, or a file the job needs, cannot be used. */
  unusable(message: string, nowMs: number): void {
    this.#decide({ kind: "unusable", message }, 1, nowMs);
  }

  /** Replicas differ, and nobody can tell who is right. `difference`: between which replicas, in which message. */
  disputed(message: string, difference: string, nowMs: number): void {
    this.#decide({ kind: "unusable", message, disputed: difference }, 1, nowMs);
  }

  /** A rank waits for something that can no longer happen. */
  stuck(message: string, nowMs: number): void {
    this.#decide({ kind: "stuck", message }, 1, nowMs);
  }

  /** Time has passed. The host calls it every `heartbeatMs`, after reading what has arrived. */
  tick(nowMs: number): void {
    const stepMs = Math.min(nowMs - this.#lastTickMs, 2 * this.#options.heartbeatMs);
    this.#lastTickMs = nowMs;
    if (this.outcome !== undefined) {
      this.#endingForMs += stepMs;
      if (this.#endingForMs > this.#options.endPatienceMs) this.#killAll();
      return;
    }
    if (nowMs - this.#startMs > this.#options.timeoutMs) {
      this.#decide({ kind: "timeout" }, 124, nowMs);
      return;
    }
    for (const node of this.#silences.keys()) {
      const silence = this.#silences[node]!;
      if (!this.isNodeAlive(node) || this.#ports.isVacant?.(node) === true) continue;
      if (!silence.lasts(stepMs, () => this.#ports.work(node))) continue;
      const ranks = this.#missedOf(node);
      if (ranks.length === 0) this.#putAway(node);
      else this.#nodeLost({ node, ranks, loss: { kind: "silent", silentMs: silence.ms }, isGone: false }, nowMs);
      if (this.outcome !== undefined) return;
    }
  }

  /** Suspicion may be wrong, and a stopped process may come back: it is killed, or fenced off, before its death is told. */
  #putAway(node: number): void {
    if (this.#options.keepSuspects === true) this.#ports.disown(node);
    else this.#ports.kill(node);
  }

  #nodeLost({ node, ranks, loss, isGone }: LostNode, nowMs: number): void {
    const code =
      loss.kind === "signal" ? 128 + loss.signalNumber : loss.kind === "exit" ? codeFromNumber(loss.code) || 1 : 1;
    const reason: Reason = { kind: "node-failed", node, ranks, loss };
    this.#fall({ node, ranks: this.#withTheirSets(ranks), reason, code, lost: isGone ? "gone" : "silent" }, nowMs);
  }

  /** A rank is gone and its node is not: all ranks of its set begin again, on their node unless that is the whole node. */
  #setLost(rank: number, reason: Failure, nowMs: number): void {
    if (this.outcome !== undefined) return;
    const { setOf } = this.#options;
    const { node } = reason;
    if (this.#ranksOn(node).every((other) => setOf === undefined || setOf[other] === setOf[rank])) {
      this.#ports.kill(node);
      return;
    }
    this.#fall({ node, ranks: this.#withTheirSets([rank]), reason, code: codeOfEnding(reason.ending) }, nowMs);
  }

  /** With a rank fall, where the dead are replaced, all members of its correlated set, on whichever nodes. */
  #withTheirSets(ranks: readonly number[]): readonly number[] {
    const { setOf, deaths } = this.#options;
    if (setOf === undefined || deaths !== "replaced") return ranks;
    const fallen = new Set(ranks.map((rank) => setOf[rank]));
    const lost = new Set(ranks);
    const falls = (rank: number): boolean => lost.has(rank) || (fallen.has(setOf[rank]) && this.#isMissed(rank));
    return [...this.#state.ranks.keys()].filter(falls);
  }

  /** Ranks are dead while the outcome is open: what that means for them and for the job is decided, written down and ordered. */
  #fall({ node, ranks, reason, code, lost }: Loss, nowMs: number): void {
    const { deaths: policy } = this.#options;
    const afterMs = nowMs - this.#startMs;
    const givenUp = policy === "replaced" ? this.falls.judge(node) : null;
    const returns = policy === "replaced" && givenUp === null;
    const outcome: JobOutcome | null =
      givenUp !== null
        ? { code, reason: { ...reason, givenUp }, afterMs }
        : policy === "fatal"
          ? { code, reason, afterMs }
          : policy === "survived"
            ? this.#outcomeWithout(ranks, nowMs)
            : policy === "covered"
              ? this.#outcomeUncovered({ ranks, reason, code }, nowMs)
              : null;
    const first = this.#state.deaths.length;
    const fall: Fall = {
      kind: "fall",
      node,
      isGone: lost === "gone",
      deaths: ranks.map((rank, i) => ({ order: first + i, rank, incarnation: this.#state.ranks[rank]!.incarnation })),
      returns,
      replaced: returns && lost !== undefined ? [node] : [],
      passed: this.falls.unwritten,
      reason,
      afterMs,
      outcome,
    };
    this.#record(fall);
    if (lost === "silent") this.#putAway(node);
    for (const death of fall.deaths) this.#ports.tell(death);
    if (policy === "survived") this.#tellOfThoseWhoLeft();
    if (outcome === null || policy === "survived" || outcome.reason.kind === "finished") {
      this.#ports.survived(reason, afterMs);
    }
    if (returns) this.#restart(fall);
    if (outcome !== null) this.#end(outcome);
  }

  /** The dead of a fall begin their next life. */
  #restart({ node, deaths, replaced }: Fall): void {
    const ranks = deaths.map(({ rank }) => rank);
    for (const each of replaced) this.#silences[each] = new Silence(this.#options);
    if (replaced.includes(node)) this.#ports.restart(node, ranks);
    else this.#ports.restartRanks(node, ranks);
  }

  #ranksOn(node: number): number[] {
    return ranksOfNode(this.#state.placement, node);
  }

  /** Ranks of a node whose end would be noticed. Rule 9: a rank that is done still serves. */
  #missedOf(node: number): number[] {
    return this.#ranksOn(node).filter((rank) => this.#isMissed(rank));
  }

  #isMissed(rank: number): boolean {
    const { state } = this.#state.ranks[rank]!;
    return state === "running" || state === "done";
  }

  #over(rank: number, over: Over, nowMs: number): void {
    const { how, code, reason } = over;
    const outcome = this.outcome === undefined ? this.#outcomeWith(rank, over, nowMs) : null;
    this.#record({ kind: "rank-over", rank, how, code, outcome });
    if (how === "finished" && this.#hasSurvivedDeaths) this.#ports.left(rank);
    if (reason !== undefined) this.#ports.survived(reason, nowMs - this.#startMs);
    if (outcome !== null) this.#end(outcome);
  }

  #tellOfThoseWhoLeft(): void {
    for (const [rank, { state }] of this.#state.ranks.entries()) if (state === "finished") this.#ports.left(rank);
  }

  get #hasSurvivedDeaths(): boolean {
    return this.#options.deaths === "survived" && this.#state.deaths.length > 0;
  }

  /** The outcome if the program of that rank is over; null: others run. */
  #outcomeWith(rank: number, { how, code }: Over, nowMs: number): JobOutcome | null {
    if (this.#runsAnyBut(new Set([rank]))) return null;
    const reason = this.#allOver(how === "frozen");
    return { code: this.#state.code || code, reason, afterMs: nowMs - this.#startMs };
  }

  /** The outcome if those ranks are dead and that is survived; null: others run. */
  #outcomeWithout(dead: readonly number[], nowMs: number): JobOutcome | null {
    const without = new Set(dead);
    if (this.#runsAnyBut(without)) return null;
    // The job is lost only when no rank is left that survived the deaths.
    const isOver = ({ state }: RankState, rank: number): boolean =>
      (state === "finished" || state === "done") && !without.has(rank);
    const code = this.#state.ranks.some(isOver) ? this.#state.code : 1;
    return { code, reason: this.#allOver(false), afterMs: nowMs - this.#startMs };
  }

  /** The outcome if those processes are dead: the end of the job where no other one plays their rank. */
  #outcomeUncovered(
    { ranks, reason, code }: Pick<Loss, "ranks" | "reason" | "code">,
    nowMs: number,
  ): JobOutcome | null {
    const { plays = [] } = this.#options;
    const dead = new Set(ranks);
    const isPlayed = (rank: number | undefined): boolean =>
      plays.some(
        (other, process) => other === rank && !dead.has(process) && this.#state.ranks[process]!.state !== "dead",
      );
    const unplayed = [...new Set(ranks.map((process) => plays[process]!))].filter((rank) => !isPlayed(rank));
    if (unplayed.length === 0) return this.#outcomeWithout(ranks, nowMs);
    return { code, reason: { ...reason, unplayed }, afterMs: nowMs - this.#startMs };
  }

  #runsAnyBut(ranks: ReadonlySet<number>): boolean {
    return this.#state.ranks.some(({ state }, rank) => state === "running" && !ranks.has(rank));
  }

  #allOver(isFrozen: boolean): Reason {
    return { kind: isFrozen || this.#state.isFrozen ? "frozen" : "finished" };
  }

  #decide(reason: Reason, code: number, nowMs: number): void {
    if (this.outcome !== undefined) return;
    const outcome = { code, reason, afterMs: nowMs - this.#startMs };
    this.#record({ kind: "decided", outcome });
    this.#end(outcome);
  }

  /** The outcome is written down, and told. */
  #end(outcome: JobOutcome): void {
    this.#ports.decided(outcome);
    for (const [node, { gone }] of this.#state.nodes.entries()) if (!gone) this.#ports.end(node);
    this.#endIfAllGone();
  }

  #killAll(): void {
    for (const [node, { gone }] of this.#state.nodes.entries()) if (!gone) this.#ports.kill(node);
  }

  #endIfAllGone(): void {
    const { outcome } = this;
    if (outcome === undefined || this.#allEnded || this.#state.nodes.some(({ gone }) => !gone)) return;
    this.#allEnded = true;
    this.#ports.ended(outcome);
  }

  #record(record: Exclude<DispatcherRecord, JobBegan>): void {
    this.#ports.record(record);
    applyToDispatcher(this.#state, record);
  }
}

/** The words of a rank that calls MPI_Abort: the members of its communicator, or none for all processes. */
interface Abort {
  readonly code: number;
  readonly message: string;
  readonly members: readonly number[];
}

type Failure = Extract<Reason, { kind: "rank-failed" }>;

/** How the program of a rank came to its end, and with which code. */
interface Over {
  readonly how: "done" | "finished" | "frozen";
  readonly code: number;
  /** Where the code is not 0. */
  readonly reason?: Failure;
}

interface LostNode {
  readonly node: number;
  /** Its ranks whose end would be noticed. */
  readonly ranks: readonly number[];
  readonly loss: NodeLoss;
  readonly isGone: boolean;
}

interface Loss {
  readonly node: number;
  readonly ranks: readonly number[];
  readonly reason: Failure | Extract<Reason, { kind: "node-failed" }>;
  /** Of the job, if the loss ends it. */
  readonly code: number;
  /** The whole node is lost: its process is gone, or silent. */
  readonly lost?: "gone" | "silent";
}
