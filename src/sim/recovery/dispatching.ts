/**
 * The host of the dispatcher (core/service/dispatcher.ts) in a simulated world, as real/service/job.ts is for processes. Nodes of
 * the world are the dispatcher's nodes. The dispatcher decides whose life is over, in which order everybody hears of it and when
 * the job ends; here is only what happens to nodes, and how long it takes until the dispatcher hears of it.
 *
 * What a node has said arrives in the order in which it was said, before the news that the node is gone. A node that stands
 * still says nothing. Time passes for the dispatcher only while some node stands still or the job is ending: heartbeats of a world
 * in which nothing happens would never end.
 */
import { unreachable } from "../../core/base/assert.ts";
import { Dispatcher } from "../../core/service/dispatcher.ts";
import type { DispatcherRecord, DispatcherState } from "../../core/service/dispatcher-state.ts";
import type { Death, Outcome } from "../../core/service/outcome.ts";
import { patiencesOf } from "../../core/service/patiences.ts";
import type { Random } from "../random.ts";
import type { World } from "../world.ts";

export interface DispatchingOptions {
  readonly world: World;
  /** Correlated set of each rank. */
  readonly setOf: Int32Array;
  readonly random: Random;
  /** Up to so long takes the news that somebody is gone, and up to so long everything else that nodes say. */
  readonly detectionNs: number;
  readonly delayNsMax: number;
}

export interface DispatchingPorts {
  /** The present life of a rank, or its last one. */
  incarnationOf(rank: number): number;
  /** A decision is written down before anybody acts upon it. */
  record(record: DispatcherRecord): void;
  /** Everybody outside of the rank's set must hear of that death, in the order of these calls. */
  tell(death: Death): void;
  /** These ranks, all of their sets, have fallen together, and are to begin their next life. */
  fallen(ranks: readonly number[]): void;
  /** The job is over. */
  decided(): void;
}

/** A node of the world, until it is gone; then another has its number. */
interface NodeProcess {
  readonly node: number;
  isGone: boolean;
  /** Does it run ranks already? */
  hasBegun: boolean;
  /** When what it said last arrives. */
  lastSaidNs: number;
  /** Told to it while it stood still. */
  readonly unheard: (() => void)[];
}

/** What the dispatcher has not heard of yet. */
interface News {
  readonly process: NodeProcess;
  readonly hear: () => void;
}

const nsPerMs = 1e6;
const heartbeatMs = 100;
const patienceMs = 750;
const endPatienceMs = 1000;
const killed = { kind: "signal", signal: "SIGKILL", signalNumber: 9 } as const;
const left = { kind: "exit", code: 0 } as const;
const vanished = { kind: "vanished", code: 1 } as const;

export class Dispatching {
  /** The job is over, and every node has ended. */
  isEnded = false;
  readonly #options: DispatchingOptions;
  readonly #ports: DispatchingPorts;
  readonly #core: Dispatcher;
  readonly #nodes: NodeProcess[];
  /** Ends of nodes and ranks that the dispatcher has not heard of yet. */
  readonly #news = new Set<News>();
  /** Calls that ranks have passed and their nodes have not told yet. */
  readonly #passed = new Map<number, number>();
  #isTicking = false;

  constructor(options: DispatchingOptions, ports: DispatchingPorts) {
    const { world, setOf } = options;
    this.#options = options;
    this.#ports = ports;
    this.#nodes = Array.from({ length: world.nodes }, (_, node) => newNode(node));
    for (const process of this.#nodes) process.hasBegun = true;
    this.#core = new Dispatcher(
      {
        ...{ nodeOf: [...world.nodeOf], ranks: world.nodeOf.length, nodes: world.nodes, setOf: [...setOf] },
        ...{ heartbeatMs, ...patiencesOf(patienceMs), endPatienceMs, timeoutMs: Number.POSITIVE_INFINITY },
        deaths: "replaced",
      },
      {
        record: (record) => ports.record(record),
        tell: (death) => ports.tell(death),
        restart: (node, ranks) => {
          this.#nodes[node] = newNode(node);
          ports.fallen(ranks);
        },
        restartRanks: (_, ranks) => ports.fallen(ranks),
        decided: (outcome) => this.#decided(outcome),
        survived: () => {},
        // A node that stands still does nothing, and the operating system sees that.
        work: () => 0,
        end: (node) => this.#end(this.#nodes[node]!),
        kill: (node) => this.killNode(node),
        disown: () => unreachable("no suspect is left alive" as never),
        ended: () => {
          this.isEnded = true;
        },
      },
      0,
    );
    for (const { node } of this.#nodes) this.#core.heard(node);
  }

  /** What must not be forgotten. */
  get state(): DispatcherState {
    return this.#core.state;
  }

  get outcome(): Outcome | undefined {
    return this.#core.outcome;
  }

  isRankAlive(rank: number): boolean {
    return this.#core.isRankAlive(rank) && this.#options.world.processes[rank]!.state !== "dead";
  }

  isNodeAlive(node: number): boolean {
    return !this.#nodes[node]!.isGone;
  }

  get #nowMs(): number {
    return this.#options.world.nowNs / nsPerMs;
  }

  ranksOf(node: number): number[] {
    const { nodeOf } = this.#options.world;
    return [...nodeOf.keys()].filter((rank) => nodeOf[rank] === node);
  }

  // What happens to nodes

  /** The node's process is gone, and with it all of its ranks. */
  killNode(node: number): void {
    const { world } = this.#options;
    const process = this.#nodes[node]!;
    if (process.isGone) return;
    process.isGone = true;
    for (const rank of this.ranksOf(node)) world.crash(rank);
    // The one that takes its place runs.
    if (world.isStopped(node)) world.continueNode(node);
    this.#bring(process, () => this.#core.nodeEnded(node, killed, this.#nowMs));
  }

  /** Threads of these ranks are gone, and their nodes notice it. One that stands still loses them when it goes on. */
  killRanks(ranks: readonly number[]): void {
    const { world } = this.#options;
    for (const rank of ranks) {
      const process = this.#processOf(rank);
      this.#whenRunning(process, () => {
        if (process.isGone || world.processes[rank]!.state === "dead") return;
        const incarnation = this.#ports.incarnationOf(rank);
        world.crash(rank);
        this.#bring(process, () => this.#core.rankEnded(rank, incarnation, vanished, this.#nowMs));
      });
    }
  }

  /** Whoever falls on that node now does so because somebody wants it. */
  excuse(node: number): void {
    this.#core.falls.excused(node);
  }

  stopNode(node: number): void {
    this.#options.world.stopNode(node);
    this.#tickWhileNeeded();
  }

  continueNode(node: number): void {
    this.#options.world.continueNode(node);
    for (const act of this.#nodes[node]!.unheard.splice(0)) act();
  }

  /** Everybody who is gone is known to be gone now. */
  notice(): void {
    for (const news of this.#news) this.#hear(news);
  }

  // What nodes say

  /** The program of a life of a rank is over. */
  rankDone(rank: number, incarnation: number): void {
    this.say(rank, () => {
      this.#core.falls.caughtUp(rank);
      this.#core.rankDone(rank, incarnation, this.#nowMs);
    });
  }

  /** A life of a rank has come as far as the one before. */
  caughtUp(rank: number): void {
    this.say(rank, () => this.#core.falls.caughtUp(rank));
  }

  /** A life of a rank has passed so many calls. */
  passed(rank: number, calls: number): void {
    const isNews = !this.#passed.has(rank);
    this.#passed.set(rank, calls);
    if (!isNews) return;
    this.say(rank, () => {
      this.#core.falls.passed(rank, this.#passed.get(rank)!);
      this.#passed.delete(rank);
    });
  }

  /** A checkpoint of a set counts in which its ranks have passed so many calls. */
  committed(set: number, calls: number): void {
    this.#core.falls.committed(set, calls);
  }

  /** What the job needs is lost. */
  unusable(message: string): void {
    this.#core.unusable(message, this.#nowMs);
  }

  /** New lives of these ranks have begun. */
  begun(ranks: readonly number[]): void {
    for (const rank of ranks) {
      this.#passed.delete(rank);
      this.#processOf(rank).hasBegun = true;
      this.#core.heard(this.#options.world.nodeOf[rank]!);
    }
  }

  #processOf(rank: number): NodeProcess {
    return this.#nodes[this.#options.world.nodeOf[rank]!]!;
  }

  /** Something comes from the node of a rank, if that lives long enough to say it. */
  say(rank: number, hear: () => void): void {
    const process = this.#processOf(rank);
    this.#plan(process, this.#options.random.below(this.#options.delayNsMax), () => {
      if (!this.#isPresent(process)) return;
      this.#core.heard(process.node);
      hear();
    });
  }

  /** The dispatcher is about to hear of an end. */
  #bring(process: NodeProcess, hear: () => void): void {
    const news = { process, hear };
    this.#news.add(news);
    this.#plan(process, this.#options.random.below(this.#options.detectionNs + 1), () => this.#hear(news));
  }

  #hear(news: News): void {
    if (this.#news.delete(news) && this.#isPresent(news.process)) news.hear();
  }

  #plan(process: NodeProcess, delayNs: number, act: () => void): void {
    const { world } = this.#options;
    process.lastSaidNs = Math.max(process.lastSaidNs, world.nowNs + delayNs);
    world.plan(process.lastSaidNs, act);
  }

  #isPresent(process: NodeProcess): boolean {
    return this.#nodes[process.node] === process;
  }

  // What the dispatcher wants

  #decided({ reason }: Outcome): void {
    const { world } = this.#options;
    world.trace.note(world.nowNs, reason.kind, []);
    this.#ports.decided();
  }

  /** Nodes of a job that has finished leave their ranks as they are: the checkers look at them. */
  #end(process: NodeProcess): void {
    const { world, random, delayNsMax } = this.#options;
    const { node } = process;
    const leave = (): void => {
      if (process.isGone) return;
      process.isGone = true;
      if (this.outcome?.reason.kind !== "finished") for (const rank of this.ranksOf(node)) world.crash(rank);
      this.#bring(process, () => this.#core.nodeEnded(node, left, this.#nowMs));
    };
    world.plan(world.nowNs + random.below(delayNsMax), () => this.#whenRunning(process, leave));
    this.#tickWhileNeeded();
  }

  #whenRunning(process: NodeProcess, act: () => void): void {
    if (this.#options.world.isStopped(process.node) && !process.isGone) process.unheard.push(act);
    else act();
  }

  // Time

  #tickWhileNeeded(): void {
    const { world } = this.#options;
    const isNeeded = !this.isEnded && this.#nodes.some(({ node }) => world.isStopped(node));
    if (this.#isTicking || !isNeeded) return;
    this.#isTicking = true;
    world.plan(world.nowNs + heartbeatMs * nsPerMs, () => {
      this.#isTicking = false;
      for (const { node, isGone, hasBegun } of this.#nodes) {
        if (!isGone && hasBegun && !world.isStopped(node)) this.#core.heard(node);
      }
      this.#core.tick(this.#nowMs);
      this.#tickWhileNeeded();
    });
  }
}

const newNode = (node: number): NodeProcess => ({
  ...{ node, isGone: false, hasBegun: false, lastSaidNs: 0 },
  unheard: [],
});
