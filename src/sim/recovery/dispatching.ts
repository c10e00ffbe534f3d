/**
 * The host of the dispatcher (core/service/dispatcher.ts) in a simulated world, as real/job/job.ts is for processes. Nodes of
 * the world are the dispatcher's nodes. The dispatcher decides which lives are over, in which order all hear of it and when
 * the job ends; here is only what happens to nodes, and how long it takes until the dispatcher hears of it.
 *
 * A node that stands still says nothing. Time passes for the dispatcher only while some node stands still or the job is ending:
 * heartbeats of a world in which nothing happens would never end.
 *
 *   sim-nodes.ts           the nodes, and the order of their words
 *   dispatcher-crashes.ts  the dispatcher crashes; a while later its successor asks the nodes (core/service/takeover.ts, ADR 13)
 *   suspects.ts            nodes that count as dead and live, where they are kept
 */
import { assert } from "../../core/base/assert.ts";
import { Dispatcher, type Predecessor } from "../../core/service/dispatcher.ts";
import type { JobRecord } from "../../core/service/job-record.ts";
import type { Death, JobOutcome } from "../../core/service/outcome.ts";
import { patiencesOf } from "../../core/service/patiences.ts";
import type { RecoveryState } from "../../core/service/recovery-state.ts";
import { type NodeAnswer, type RankLife, Takeover } from "../../core/service/takeover.ts";
import type { Random } from "../random.ts";
import type { World } from "../world.ts";
import { DispatcherCrashes, type Order } from "./dispatcher-crashes.ts";
import { type SimNode, SimNodes } from "./sim-nodes.ts";
import { Suspects } from "./suspects.ts";

interface DispatchingOptions {
  readonly world: World;
  /** Correlated set of each rank. */
  readonly setOf: readonly number[];
  readonly random: Random;
  /** Longest time until the dispatcher hears that a node or rank is gone; and until it hears anything else that nodes say. */
  readonly detectionNs: number;
  readonly delayNsMax: number;
  /** Longest time until a dispatcher that has crashed has a successor. */
  readonly restartNs: number;
  /** Null: nodes that are taken for dead are killed. Otherwise they are kept, and those that stand still go on after this time at the latest. */
  readonly suspectsWakeNsMax: number | null;
}

interface DispatchingPorts {
  /** The ranks of a node are taken for dead, and live; what they have printed, and their node has not said, is lost. */
  disowned(ranks: readonly number[]): void;
  /** The present life of a rank, or its last one. */
  incarnationOf(rank: number): number;
  /** The meant ranks outside of the dead rank's set must hear of the death, in the order of these calls. */
  tell(death: Death, isMeant: (rank: number) => boolean): void;
  /** The meant ranks must hear that these lives have begun. */
  returned(lives: readonly RankLife[], isMeant: (rank: number) => boolean): void;
  /** How many deaths the present life of a rank has heard of, since the job's beginning. */
  deathsHeard(rank: number): number;
  /** The dispatcher has crashed; orders on their way are lost or late. */
  crashed(): void;
  /** A successor has this of its recovery. */
  takeOver(recovery: RecoveryState): void;
  /** A node is about to answer a successor: before that it repeats the lines of its ranks that no dispatcher has heard. */
  sayAgain(node: number): void;
  /** Ranks of that node that stand still for a checkpoint go on. */
  goOn(node: number): void;
  /** These ranks, all of their sets, have fallen together, and are to begin their next life. */
  fallen(ranks: readonly number[]): void;
  /** The job is over. */
  decided(): void;
}

/** An end that the dispatcher has not heard of yet. */
interface News {
  readonly process: SimNode;
  readonly hear: () => void;
}

const nsPerMs = 1e6;
const usualPatience = { heartbeatMs: 100, patienceMs: 750, endPatienceMs: 1000 };
/** Where suspects are kept, what they do while their successors live is of interest, and programs take milliseconds. */
const shortPatience = { heartbeatMs: 0.005, patienceMs: 0.05, endPatienceMs: 0.2 };
const killed = { kind: "signal", signal: "SIGKILL", signalNumber: 9 } as const;
const left = { kind: "exit", code: 0 } as const;
const vanished = { kind: "vanished", code: 1 } as const;

export class Dispatching {
  /** The job is over, and every node has ended. */
  isEnded = false;
  readonly #options: DispatchingOptions;
  readonly #ports: DispatchingPorts;
  readonly #nodes: SimNodes;
  readonly #crashes: DispatcherCrashes;
  readonly #suspects: Suspects;
  #core: Dispatcher;
  /** Of the present dispatcher, if it has taken over from another. */
  #takeover: Takeover | null = null;
  /** Nodes that are to be excused when there is a dispatcher again. */
  readonly #unexcused: number[] = [];
  /** Lives whose program is over, and lives that have come as far as those before: their nodes know it. */
  readonly #done = new Map<number, number>();
  readonly #caughtUp = new Map<number, number>();
  /** Ends of nodes and ranks that the dispatcher has not heard of yet. */
  readonly #news = new Set<News>();
  /** Calls that ranks have passed and their nodes have not told yet. */
  readonly #passed = new Map<number, number>();
  #isTicking = false;
  readonly #patience: typeof usualPatience;

  constructor(options: DispatchingOptions, ports: DispatchingPorts) {
    const { world } = options;
    this.#options = options;
    this.#ports = ports;
    this.#patience = options.suspectsWakeNsMax === null ? usualPatience : shortPatience;
    this.#nodes = new SimNodes(world);
    this.#crashes = new DispatcherCrashes(options, {
      crashed: () => {
        this.#news.clear();
        this.#passed.clear();
        ports.crashed();
      },
      takeOver: () => this.#takeOver(),
      isEnded: () => this.isEnded,
      termOf: (node) => this.#nodes.all[node]?.term,
    });
    this.#suspects = new Suspects(options, () => this.outcome !== undefined);
    this.#core = this.#dispatcher(0);
    for (const { node } of this.#nodes.all) this.#core.heard(node);
  }

  #dispatcher(nowMs: number, predecessor?: Predecessor): Dispatcher {
    const { world, setOf } = this.#options;
    const ports = this.#ports;
    const { placement } = world;
    if (predecessor !== undefined) world.openNodes(predecessor.state.nodes.length);
    return new Dispatcher(
      {
        ...this.#patience,
        ...patiencesOf(this.#patience.patienceMs),
        placement,
        ranks: placement.length,
        nodes: world.nodes,
        setOf,
        timeoutMs: Number.POSITIVE_INFINITY,
        keepSuspects: this.#options.suspectsWakeNsMax !== null,
        deaths: "replaced",
      },
      {
        record: (record) => this.record(record),
        tell: (death) => ports.tell(death, (rank) => this.isLinked(this.nodeOf(rank))),
        // Only where deaths are survived.
        left: () => {},
        restart: (node, ranks) => this.#replace(node, ranks),
        restartRanks: (_, ranks) => ports.fallen(ranks),
        endRanks: () => assert(false, "all dead ranks return in this world"),
        decided: (outcome) => this.#decided(outcome),
        survived: () => {},
        // A node that stands still does nothing, and the operating system sees that.
        work: () => 0,
        end: (node) => this.#end(this.#nodes.at(node)),
        kill: (node) => this.killNode(node),
        disown: (node) => this.#disown(node),
        ended: () => {
          this.isEnded = true;
        },
      },
      nowMs,
      predecessor,
    );
  }

  record(record: JobRecord): void {
    this.#crashes.write(record);
  }

  /** The dispatcher hears of something, or recovery beside it, if there is one. What follows from that inside it is one event. */
  feed(act: (core: Dispatcher) => void): void {
    this.#crashes.event(() => act(this.#core));
  }

  // A dispatcher that crashes

  get crashes(): DispatcherCrashes["counts"] {
    return this.#crashes.counts;
  }

  get suspects(): Suspects["counts"] {
    return this.#suspects.counts;
  }

  crash(): void {
    this.#crashes.crash();
  }

  /** There is no dispatcher at the moment. */
  get isDown(): boolean {
    return this.#crashes.isDown;
  }

  /** The present dispatcher gives an order. */
  order(): Order {
    return this.#crashes.order(this.#core);
  }

  #takeOver(): void {
    const { world } = this.#options;
    const { placement } = world;
    const isOn = (node: number) => (rank: number) => this.nodeOf(rank) === node;
    const { dispatcher, recovery } = this.#crashes.written();
    // All parts of the world look at one table of places, and one of sets: what is written down is in them, and nothing else.
    const state = { ...dispatcher, placement, setOf: this.#options.setOf };
    assert(textOf(state) === textOf(dispatcher), "places and sets are what is written down");
    this.#core = this.#dispatcher(this.#nowMs, { state, startMs: 0 });
    this.#takeover = new Takeover({ placement, ranks: placement.length }, this.#core, {
      // A node that was silent, and whose replacement was written down and not carried out.
      refuse: (node) => this.killNode(node),
      end: (node) => this.#end(this.#nodes.at(node)),
      tell: (node, death) => this.#ports.tell(death, isOn(node)),
      goOn: (node) => this.#ports.goOn(node),
      returned: (node, lives) => this.#ports.returned(lives, isOn(node)),
      endRanks: () => assert(false, "all dead ranks return in this world"),
    });
    for (const node of this.#unexcused.splice(0)) this.excuse(node);
    this.feed((core) => {
      core.takeOver();
      this.#ports.takeOver(recovery);
      core.carryOutMoves(this.#nowMs);
    });
    for (const process of this.#nodes.all) this.#ask(process);
    this.#tickWhileNeeded();
  }

  #ask(process: SimNode): void {
    const { world, random, delayNsMax } = this.#options;
    const { node } = process;
    if (process.isGone) {
      this.#bring(process, () => this.feed((core) => core.nodeEnded(node, killed, this.#nowMs)));
      return;
    }
    const takeover = this.#takeover;
    const hear = (): void => {
      if (!process.isGone && takeover === this.#takeover) this.#answer(process);
    };
    world.plan(world.nowNs + random.below(delayNsMax), () => this.#nodes.whenRunning(process, hear));
  }

  /** A node hears the question of the present dispatcher: from now on it listens and speaks to that dispatcher alone. */
  #answer(process: SimNode): void {
    const { random, delayNsMax } = this.#options;
    const { node } = process;
    process.term = this.#core.state.term;
    for (const rank of this.#nodes.ranksOf(node)) this.#passed.delete(rank);
    this.#ports.sayAgain(node);
    const answer = this.#answerOf(process);
    const takeover = this.#takeover;
    this.#nodes.say(process, random.below(delayNsMax), () => {
      if (!this.#nodes.isPresent(process) || takeover !== this.#takeover) return;
      this.feed(() => takeover?.answered(answer, this.#nowMs));
    });
  }

  #answerOf({ node, life }: SimNode): NodeAnswer {
    const { processes } = this.#options.world;
    const living = this.ranksOf(node).filter((rank) => processes[rank]!.state !== "dead");
    const ranks = living.map((rank) => {
      const incarnation = this.#ports.incarnationOf(rank);
      const isDone = this.#done.get(rank) === incarnation;
      const stands = { kind: isDone ? "done" : "running" } as const;
      return { rank, incarnation, stands, hasCaughtUp: isDone || this.#caughtUp.get(rank) === incarnation };
    });
    const heard = living.map((rank) => this.#ports.deathsHeard(rank));
    return { node, life, ranks, deathsHeard: Math.min(this.#core.state.deaths.length, ...heard) };
  }

  /** Does the journal say what the dispatcher must not forget? A torn end does not count. */
  isWritten(recovery: RecoveryState): boolean {
    const written = this.#crashes.written();
    return textOf(written.dispatcher) === textOf(this.#core.state) && textOf(written.recovery) === textOf(recovery);
  }

  /** May a node hear of anything? Not before it has answered a dispatcher that has taken over. */
  isLinked(node: number): boolean {
    return this.#takeover?.isLinked(node) !== false;
  }

  /** The present one. */
  get core(): Dispatcher {
    return this.#core;
  }

  get outcome(): JobOutcome | undefined {
    return this.#core.outcome;
  }

  isRankAlive(rank: number): boolean {
    return this.#core.isRankAlive(rank) && this.#options.world.processes[rank]!.state !== "dead";
  }

  isNodeAlive(node: number): boolean {
    return !this.#nodes.at(node).isGone;
  }

  get #nowMs(): number {
    return this.#options.world.nowNs / nsPerMs;
  }

  /** Those that are there, or were last. */
  ranksOf(node: number): number[] {
    return this.#nodes.ranksOf(node);
  }

  /** Where a rank is, or was last; where its next life begins says the table of places. */
  nodeOf(rank: number): number {
    return this.#nodes.of(rank).node;
  }

  // What happens to nodes

  /** The node's process is gone, and with it all of its ranks. */
  killNode(node: number): void {
    const { world } = this.#options;
    const process = this.#nodes.at(node);
    if (process.isGone) return;
    process.isGone = true;
    for (const rank of this.ranksOf(node)) world.crash(rank);
    // The one that takes its place runs.
    if (world.isStopped(node)) world.continueNode(node);
    this.#bring(process, () => this.feed((core) => core.nodeEnded(node, killed, this.#nowMs)));
  }

  /**
   * The process that a node has now ends when the function that is returned is called, because its ranks were moved: others are told of their deaths by
   * that decision, and another process may have its number by then.
   */
  endOf(node: number): () => void {
    const { world } = this.#options;
    const process = this.#nodes.at(node);
    const ranks = this.ranksOf(node);
    return () => {
      if (process.isGone) return;
      process.isGone = true;
      for (const rank of ranks) if (this.nodeOf(rank) === node) world.crash(rank);
      if (world.isStopped(node)) world.continueNode(node);
    };
  }

  /** Threads of these ranks are gone, and their nodes notice it. One that stands still loses them when it goes on. */
  killRanks(ranks: readonly number[]): void {
    const { world } = this.#options;
    for (const rank of ranks) {
      const process = this.#nodes.of(rank);
      this.#nodes.whenRunning(process, () => {
        if (process.isGone || world.processes[rank]!.state === "dead") return;
        const incarnation = this.#ports.incarnationOf(rank);
        world.crash(rank);
        const { term } = process;
        this.#bring(process, () => {
          this.feed((core) => {
            if (term === core.state.term) core.rankEnded(rank, incarnation, vanished, this.#nowMs);
          });
        });
      });
    }
  }

  /** The next fall on that node is a fault of the seed or the plan, not of the program. */
  excuse(node: number): void {
    if (this.isDown) this.#unexcused.push(node);
    this.feed((core) => core.falls.excused(node));
  }

  stopNode(node: number): void {
    this.#options.world.stopNode(node);
    this.#tickWhileNeeded();
  }

  continueNode(node: number): void {
    this.#nodes.continue(node);
  }

  /** The node runs, and no word of it arrives until it is heard again. */
  muteNode(node: number): () => void {
    const listen = this.#nodes.mute(node);
    this.#tickWhileNeeded();
    return listen;
  }

  #disown(node: number): void {
    this.#ports.disowned(this.ranksOf(node));
    this.#suspects.add(node);
  }

  /** The dispatcher hears now of every node and rank that is gone. */
  notice(): void {
    for (const news of this.#news) this.#hear(news);
  }

  // What nodes say

  /** The program of a life of a rank is over. */
  rankDone(rank: number, incarnation: number): void {
    this.#done.set(rank, incarnation);
    this.say(rank, (core) => {
      core.falls.caughtUp(rank);
      core.rankDone(rank, incarnation, this.#nowMs);
    });
  }

  /** A life of a rank has come as far as the one before. */
  caughtUp(rank: number): void {
    this.#caughtUp.set(rank, this.#ports.incarnationOf(rank));
    this.say(rank, (core) => core.falls.caughtUp(rank));
  }

  /** A life of a rank has passed this number of calls. */
  passed(rank: number, calls: number): void {
    const isNews = !this.#passed.has(rank);
    this.#passed.set(rank, calls);
    if (!isNews) return;
    this.say(rank, (core) => {
      core.falls.passed(rank, this.#passed.get(rank) ?? 0);
      this.#passed.delete(rank);
    });
  }

  /** A checkpoint of a set counts; its ranks had passed this number of calls. */
  committed(set: number, calls: number): void {
    this.feed((core) => core.falls.committed(set, calls));
  }

  /** What the job needs is lost. */
  unusable(message: string): void {
    this.feed((core) => core.unusable(message, this.#nowMs));
  }

  /** New lives of these ranks have begun. */
  begun(ranks: readonly number[]): void {
    for (const rank of ranks) {
      this.#passed.delete(rank);
      const node = this.#options.world.placement[rank]!;
      this.#nodes.at(node).hasBegun = true;
      this.#core.heard(node);
      this.#takeover?.began(node, [{ rank, incarnation: this.#ports.incarnationOf(rank) }]);
    }
  }

  /** Something comes from the node of a rank, if that lives long enough to say it. */
  say(rank: number, hear: (core: Dispatcher) => void): void {
    this.sayOf(this.nodeOf(rank), hear);
  }

  /** The same from a node. */
  sayOf(node: number, hear: (core: Dispatcher) => void): void {
    const process = this.#nodes.at(node);
    const { term } = process;
    this.#nodes.say(process, this.#options.random.below(this.#options.delayNsMax), () => {
      // Words for a dispatcher that crashed are lost.
      if (!this.#nodes.isPresent(process) || term !== this.#core.state.term) return;
      this.feed((core) => {
        core.heard(process.node);
        hear(core);
      });
    });
  }

  /** The dispatcher is about to hear of an end. */
  #bring(process: SimNode, hear: () => void): void {
    const news = { process, hear };
    this.#news.add(news);
    this.#nodes.say(process, this.#options.random.below(this.#options.detectionNs + 1), () => this.#hear(news));
  }

  #hear(news: News): void {
    if (this.#news.delete(news) && this.#nodes.isPresent(news.process)) news.hear();
  }

  /** The dispatcher says something to a node, which hears it in that order, if it lives so long and has not heard of another dispatcher. */
  tellNode(node: number, hear: () => void): void {
    const { world, random, delayNsMax } = this.#options;
    const process = this.#nodes.at(node);
    const order = this.order();
    process.toldNs = Math.max(process.toldNs, world.nowNs + random.below(delayNsMax));
    world.plan(process.toldNs, () => {
      this.#nodes.whenRunning(process, () => {
        if (!process.isGone && this.#nodes.isPresent(process) && !order.isLost() && order.isTakenBy(node)) hear();
      });
    });
  }

  // What the dispatcher wants

  #replace(node: number, ranks: readonly number[]): void {
    const { nodes, term } = this.#core.state;
    this.#options.world.openNodes(nodes.length);
    this.#nodes.replace(node, nodes[node]!.life, term);
    this.#takeover?.started(node);
    this.#ports.fallen(ranks);
  }

  #decided({ reason }: JobOutcome): void {
    const { world } = this.#options;
    this.#ports.decided();
    world.endSuspects();
    world.trace.note(world.nowNs, reason.kind, []);
  }

  /** Nodes of a job that has finished leave their ranks as they are: the checkers look at them. */
  #end(process: SimNode): void {
    const { world, random, delayNsMax } = this.#options;
    const { node } = process;
    const leave = (): void => {
      if (process.isGone) return;
      process.isGone = true;
      if (this.outcome?.reason.kind !== "finished") for (const rank of this.ranksOf(node)) world.crash(rank);
      this.#bring(process, () => this.feed((core) => core.nodeEnded(node, left, this.#nowMs)));
    };
    world.plan(world.nowNs + random.below(delayNsMax), () => this.#nodes.whenRunning(process, leave));
    this.#tickWhileNeeded();
  }

  // Time

  #tickWhileNeeded(): void {
    const { world } = this.#options;
    const isNeeded = !this.isEnded && this.#nodes.all.some(({ node, isMuted }) => isMuted || world.isStopped(node));
    if (this.#isTicking || !isNeeded) return;
    this.#isTicking = true;
    world.plan(world.nowNs + this.#patience.heartbeatMs * nsPerMs, () => {
      this.#isTicking = false;
      for (const { node, isGone, hasBegun, isMuted } of this.#nodes.all) {
        if (!isGone && !isMuted && hasBegun && !world.isStopped(node)) this.#core.heard(node);
      }
      this.feed((core) => core.tick(this.#nowMs));
      this.#tickWhileNeeded();
    });
  }
}

const textOf = (state: Dispatcher["state"] | RecoveryState): string =>
  JSON.stringify(state, (_, value: unknown) => (value instanceof Set || value instanceof Map ? [...value] : value));
