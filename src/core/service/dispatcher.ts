/**
 * The dispatcher's decisions: who is dead, what the job's exit code is, when everything must end. It is fed what happened
 * and when (milliseconds of any monotonic clock), and calls its ports; it reads no clock and does no I/O, so that the
 * simulator can run it as well. The host around it is `real/service`.
 *
 * A job is *running* until something decides its outcome; then it is *ending*: every node has been told to end, those that
 * do not are killed; when the last node is gone it is *ended*. The first decision stands, whatever happens while ending.
 *
 * Deaths are declared here and nowhere else, in one order, each with the incarnation that died. A node is dead when its
 * process is gone or its heartbeats stop. Silence is counted in the watcher's own waking time: a tick that comes late
 * counts as two periods at most, so whoever was stopped together with the watcher, or could not be heard while it was busy,
 * is forgiven. The host must read what has arrived before it ticks. Where ranks leave a node's main thread no processor it is
 * silent too; therefore a silent node is not dead unless the operating system has not seen it at work for half the patience.
 * The same holds for a node that has not spoken yet, with a longer patience: a loaded machine starts processes slowly.
 */
import { codeFromNumber, codeOfEnding, type Ending } from "./ending.ts";
import { Falls } from "./falls.ts";
import type { Death, NodeLoss, Outcome, Reason } from "./outcome.ts";
import { ranksOfNode } from "./placement.ts";
import { type Patience, Silence } from "./silence.ts";

export interface DispatcherOptions extends Patience {
  /** Node of each process that there can be. */
  readonly nodeOf: readonly number[];
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
  /** Which ranks fall together where the dead are replaced; undefined: those of a node. */
  readonly setOf?: readonly number[] | undefined;
  /** A node that is silent for too long is dead, and yet left alive: to see that it does no harm. False unless given. */
  readonly keepSuspects?: boolean | undefined;
}

/**
 * What a death means: "fatal", it ends the job (`none`); "survived", the living are told and go on; "replaced", they are told,
 * and a new node takes the place of the lost one, with new lives of its ranks.
 */
export type DeathPolicy = "fatal" | "survived" | "replaced";

export interface DispatcherPorts {
  /** Every node that lives must hear of this death. */
  tell(death: Death): void;
  /** A new node shall take the place of one that is gone, or will be in a moment: these ranks begin their next life there. */
  restart(node: number, ranks: readonly number[]): void;
  /** The node lives, and so do its other ranks: these begin their next life there. Threads that they still have must go first. */
  restartRanks(node: number, ranks: readonly number[]): void;
  /** The outcome is decided; told once, before the first `end`. */
  decided(outcome: Outcome): void;
  /** A failure that does not end the job, for those who watch. */
  survived(reason: Reason, afterMs: number): void;
  /**
   * What the operating system has seen the node do: a number that changes while the node runs, or waits for a processor or a
   * disk. Asked of silent nodes only. A host that cannot tell always says the same.
   */
  work(node: number): number;
  /** The node must end in order: stop its ranks, hand over what they printed, leave. */
  end(node: number): void;
  /** The node must be gone, whatever state it is in. */
  kill(node: number): void;
  /** The node counts as dead and is left alive: whatever it says from now on is refused. Told before its ranks' deaths. */
  disown(node: number): void;
  /** The last node is gone. */
  ended(outcome: Outcome): void;
}

interface Node {
  readonly ranks: readonly number[];
  silence: Silence;
  gone: boolean;
}

interface Rank {
  incarnation: number;
  /** "absent": not admitted yet. "done": its program is over; it stays, because others may need what it has sent. */
  state: "absent" | "running" | "done" | "finished" | "dead";
}

export class Dispatcher {
  /** Must hear how far ranks have come. */
  readonly falls: Falls;
  readonly #options: DispatcherOptions;
  readonly #ports: DispatcherPorts;
  readonly #startMs: number;
  readonly #nodes: Node[] = [];
  readonly #ranks: Rank[];
  #deaths = 0;
  #lastTickMs: number;
  #outcome: Outcome | undefined;
  #endingForMs = 0;
  #allEnded = false;
  #isFrozen = false;

  constructor(options: DispatcherOptions, ports: DispatcherPorts, nowMs: number) {
    this.#options = options;
    this.#ports = ports;
    this.#startMs = nowMs;
    this.#lastTickMs = nowMs;
    const { ranks } = options;
    this.falls = new Falls({ nodes: options.nodes, ranks: options.nodeOf.length });
    this.#ranks = options.nodeOf.map((_, rank) => ({ incarnation: 0, state: rank < ranks ? "running" : "absent" }));
    for (let node = 0; node < options.nodes; node++) {
      this.#nodes.push({
        ranks: ranksOfNode(options.nodeOf, node),
        silence: new Silence(options),
        gone: false,
      });
    }
  }

  get outcome(): Outcome | undefined {
    return this.#outcome;
  }

  /** Anything at all has come from that node. */
  heard(node: number): void {
    this.#nodes[node]!.silence.heard();
  }

  /** So many processes are about to be started, on nodes that live: their numbers, or undefined where there are not enough. */
  admit(count: number): number[] | undefined {
    const free = this.#free();
    if (this.#outcome !== undefined || free.length < count) return undefined;
    const admitted = free.slice(0, count);
    for (const rank of admitted) this.#ranks[rank]!.state = "running";
    return admitted;
  }

  /** How many more could be admitted. */
  get spares(): number {
    return this.#free().length;
  }

  /** Those could not all be started: whatever becomes of them concerns nobody. Their numbers are spent. */
  withdraw(admitted: readonly number[]): void {
    for (const rank of admitted) this.#ranks[rank]!.state = "dead";
  }

  #free(): number[] {
    const { nodeOf } = this.#options;
    const isFree = (rank: number): boolean =>
      this.#ranks[rank]!.state === "absent" && !this.#nodes[nodeOf[rank]!]!.gone;
    return [...nodeOf.keys()].filter(isFree);
  }

  /** A rank's thread has ended, well or badly. Of an old life, or of one already dead, it means nothing. */
  rankEnded(rank: number, incarnation: number, ending: Ending, nowMs: number): void {
    const it = this.#ranks[rank]!;
    const isServing = it.state === "done" && ending.kind === "vanished";
    if ((it.state !== "running" && !isServing) || it.incarnation !== incarnation) return;
    const code = codeOfEnding(ending);
    if (code === 0) {
      it.state = "finished";
      if (ending.kind === "frozen") this.#isFrozen = true;
      this.#finishIfAllHave(nowMs);
      return;
    }
    const node = this.#options.nodeOf[rank]!;
    if (this.#options.deaths === "replaced") {
      // A program's own end is not a failure (rule 10); a thread that somebody has terminated is one.
      if (ending.kind === "vanished") this.#setLost(rank, ending, nowMs);
      else this.#decide({ kind: "rank-failed", rank, node, ending }, code, nowMs);
      return;
    }
    this.#declareDead(rank);
    this.#failed({ kind: "rank-failed", rank, node, ending }, code, nowMs);
  }

  /** The program of a rank is over, and the rank stays to serve those whose program is not. */
  rankDone(rank: number, incarnation: number, nowMs: number): void {
    const it = this.#ranks[rank]!;
    if (it.state !== "running" || it.incarnation !== incarnation) return;
    it.state = "done";
    this.#finishIfAllHave(nowMs);
  }

  isRankAlive(rank: number): boolean {
    return this.#isMissed(rank) && this.isNodeAlive(this.#options.nodeOf[rank]!);
  }

  isNodeAlive(node: number): boolean {
    return !this.#nodes[node]!.gone;
  }

  /** The operating system says that the node's process is gone. */
  nodeEnded(node: number, loss: NodeLoss, nowMs: number): void {
    const it = this.#nodes[node]!;
    if (it.gone) return;
    it.gone = true;
    if (this.#outcome === undefined) this.#nodeLost(node, loss, nowMs);
    this.#endIfAllGone();
  }

  /** MPI_Abort: the job ends with that code, whatever the protocol. */
  aborted(rank: number, code: number, message: string, nowMs: number): void {
    const node = this.#options.nodeOf[rank]!;
    this.#decide({ kind: "aborted", rank, node, message }, codeFromNumber(code), nowMs);
  }

  /** The user, or whoever started us, wants an end. When the job is ending already, it is meant at once. */
  interrupted(signal: string, signalNumber: number, nowMs: number): void {
    if (this.#outcome === undefined) this.#decide({ kind: "interrupted", signal }, 128 + signalNumber, nowMs);
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

  /** Time has passed. The host calls it every `heartbeatMs`, after reading what has arrived. */
  tick(nowMs: number): void {
    const stepMs = Math.min(nowMs - this.#lastTickMs, 2 * this.#options.heartbeatMs);
    this.#lastTickMs = nowMs;
    if (this.#outcome !== undefined) {
      this.#endingForMs += stepMs;
      if (this.#endingForMs > this.#options.endPatienceMs) this.#killAll();
      return;
    }
    if (nowMs - this.#startMs > this.#options.timeoutMs) {
      this.#decide({ kind: "timeout" }, 124, nowMs);
      return;
    }
    for (const [node, it] of this.#nodes.entries()) {
      if (it.gone) continue;
      if (!it.silence.lasts(stepMs, () => this.#ports.work(node))) continue;
      // Suspicion may be wrong, and a stopped process may come back: it is killed, or fenced off, before anybody hears of its
      // death.
      if (this.#options.keepSuspects === true) this.#ports.disown(node);
      else this.#ports.kill(node);
      this.#nodeLost(node, { kind: "silent", silentMs: it.silence.ms }, nowMs);
      if (this.#outcome !== undefined) return;
    }
  }

  #nodeLost(node: number, loss: NodeLoss, nowMs: number): void {
    const ranks = this.#nodes[node]!.ranks.filter((rank) => this.#isMissed(rank));
    // A node whose ranks have all finished is missed by nobody.
    if (ranks.length === 0) return;
    for (const rank of ranks) this.#declareDead(rank);
    const code =
      loss.kind === "signal" ? 128 + loss.signalNumber : loss.kind === "exit" ? codeFromNumber(loss.code) || 1 : 1;
    const reason: Reason = { kind: "node-failed", node, ranks, loss };
    if (this.#options.deaths !== "replaced") {
      this.#failed(reason, code, nowMs);
      return;
    }
    const givenUp = this.falls.fell(node, ranks);
    if (givenUp === null) this.#replace(node, ranks, reason, nowMs);
    else this.#decide({ ...reason, givenUp }, code, nowMs);
  }

  /** A rank is gone and its node is not: all who fall with it begin again, in that node unless that is all of it. */
  #setLost(rank: number, ending: Ending, nowMs: number): void {
    if (this.#outcome !== undefined) return;
    const { setOf, nodeOf } = this.#options;
    const node = nodeOf[rank]!;
    const it = this.#nodes[node]!;
    const members = it.ranks.filter((other) => setOf === undefined || setOf[other] === setOf[rank]);
    if (members.length === it.ranks.length) {
      this.#ports.kill(node);
      return;
    }
    for (const member of members) this.#declareDead(member);
    const reason: Reason = { kind: "rank-failed", rank, node, ending };
    const givenUp = this.falls.fell(node, members);
    if (givenUp !== null) {
      this.#decide({ ...reason, givenUp }, codeOfEnding(ending), nowMs);
      return;
    }
    this.#beginLives(members);
    this.#ports.survived(reason, nowMs - this.#startMs);
    this.#ports.restartRanks(node, members);
  }

  /** Rule 9: who is done still serves. */
  #isMissed(rank: number): boolean {
    const { state } = this.#ranks[rank]!;
    return state === "running" || state === "done";
  }

  #replace(node: number, ranks: readonly number[], reason: Reason, nowMs: number): void {
    Object.assign(this.#nodes[node]!, { silence: new Silence(this.#options), gone: false });
    this.#beginLives(ranks);
    this.#ports.survived(reason, nowMs - this.#startMs);
    this.#ports.restart(node, ranks);
  }

  #beginLives(ranks: readonly number[]): void {
    for (const rank of ranks) {
      const life = this.#ranks[rank]!;
      life.incarnation++;
      life.state = "running";
    }
  }

  #declareDead(rank: number): void {
    const it = this.#ranks[rank]!;
    it.state = "dead";
    if (this.#outcome !== undefined) return;
    this.#ports.tell({ order: this.#deaths++, rank, incarnation: it.incarnation });
  }

  #failed(reason: Reason, code: number, nowMs: number): void {
    if (this.#options.deaths === "fatal") this.#decide(reason, code, nowMs);
    else if (this.#outcome === undefined) {
      this.#ports.survived(reason, nowMs - this.#startMs);
      this.#finishIfAllHave(nowMs);
    }
  }

  #finishIfAllHave(nowMs: number): void {
    if (this.#ranks.some((rank) => rank.state === "running")) return;
    // Where deaths are survived the job is lost only when nobody is left to have survived them.
    const code = this.#ranks.some(({ state }) => state === "finished" || state === "done") ? 0 : 1;
    this.#decide({ kind: this.#isFrozen ? "frozen" : "finished" }, code, nowMs);
  }

  #decide(reason: Reason, code: number, nowMs: number): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = { code, reason, afterMs: nowMs - this.#startMs };
    this.#ports.decided(this.#outcome);
    for (const [node, it] of this.#nodes.entries()) if (!it.gone) this.#ports.end(node);
    this.#endIfAllGone();
  }

  #killAll(): void {
    for (const [node, it] of this.#nodes.entries()) if (!it.gone) this.#ports.kill(node);
  }

  #endIfAllGone(): void {
    if (this.#outcome === undefined || this.#allEnded || this.#nodes.some((node) => !node.gone)) return;
    this.#allEnded = true;
    this.#ports.ended(this.#outcome);
  }
}
