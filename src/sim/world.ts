/**
 * A simulated world: processes, network, clock and crashes in one thread, nothing asynchronous, everything that could go
 * one way or another decided by the seed. The core it runs is the one that ships.
 *
 * The world is driven by its event queue. It ends when nothing is left to happen; a process that still waits then waits for
 * ever, and the outcome says for what.
 */
import { assert, unreachable } from "../core/base/assert.ts";
import type { Pointer } from "../core/base/brand.ts";
import type { Identity, ProcessName } from "../core/base/identity.ts";
import { Group } from "../core/comm/group.ts";
import type { NewProtocol } from "../core/ft/protocol.ts";
import { spawnedWorldContext } from "../core/process/context.ts";
import { type NodeMap, nodeMapOf } from "../core/process/node-map.ts";
import { Process, type ProcessOptions } from "../core/process/process.ts";
import type { Memory } from "../core/request/memory.ts";
import { type Placement, placementOf } from "../core/service/placement.ts";
import { CONTEXT, KIND, TAG } from "../core/wire/packet.ts";
import { Agenda } from "./agenda.ts";
import { Arena } from "./arena.ts";
import { type BoardCounts, type BoardLimits, NodeBoards, SimBoards } from "./boards.ts";
import { type CostModel, costModelDefault } from "./cost-model.ts";
import { type ProcessMemory, SimMemory } from "./memory.ts";
import { Network, type Packet } from "./network.ts";
import { Random } from "./random.ts";
import { Rest } from "./rest.ts";
import { SimLinks } from "./sim-links.ts";
import { type RankProgram, SimProcess, type SimState } from "./sim-process.ts";
import { Trace } from "./trace.ts";
import { SimTransport } from "./transport.ts";

/** Where processes have images, and so regions of their own. Memory that is reserved is paid for, touched or not. */
const regionBytes = 1 << 22;

export interface WorldOptions<M extends ProcessMemory = SimMemory> {
  /** All numbers that a process can have. */
  readonly ranks: number;
  /** How many of them are there from the start, as one world; the others may be born later. All unless given. */
  readonly ranksFirst?: number | undefined;
  /** By rank: how many processes play it; one unless given. Process number: replica × ranks + rank. */
  readonly replicas?: readonly number[];
  /** Processes are placed on them in blocks, as in the real world. */
  readonly nodes?: number;
  /** How many nodes there may be later, when ranks have moved to new ones; as many as there are unless given. Then any rank can be on any node. */
  readonly nodesMax?: number | undefined;
  /** By rank, what programs see of nodes; the nodes that ranks are placed on unless given. */
  readonly nodeMap?: readonly number[];
  readonly seed?: number;
  readonly cost?: Partial<CostModel>;
  /** Eager limit of each life of a process to each receiver; `cost.eagerBytesMax`, which none exceeds, unless given. */
  readonly eagerLimit?: ((sender: Identity, to: number) => number) | undefined;
  /** What a packet from one rank to another takes longer, beside what the cost model and the seed say; nothing unless given. */
  readonly delayNs?: ((from: number, to: number) => number) | undefined;
  /** Processes of a node read and write each other's memory. */
  readonly sharesInside?: boolean;
  /** Memories of processes can be saved and restored, each for itself. */
  readonly hasImages?: boolean;
  /** `wake` makes that process look at what it can do. */
  readonly protocol?: (process: number, wake: () => void) => NewProtocol | null;
  readonly unexpectedBytesMax?: number;
  /** The sender named in a process's packets, for tests of transports; the process itself unless given. */
  readonly identityOf?: (rank: number) => Identity | undefined;
  /** A share of the node's arena unless given. */
  readonly memoryOf?: (rank: number, arena: Arena) => M;
  /** Shared memory for collectives, on the nodes that may use it: where all processes fall together or none comes back (rule 12). */
  readonly boards?: BoardLimits & { readonly mayUse?: (node: number, placement: Placement) => boolean };
  /** Called when a process has died, with its state before. Without it the other processes hear of the death, and nothing else happens. */
  readonly crashed?: (rank: number, stateBefore: SimState) => void;
  /** Gets a line for each event. */
  readonly listener?: (line: string) => void;
  /** Time after which processes that wait ask those they wait for, again and again; unless given, when nothing else happens. */
  readonly inquiryNs?: number;
  /** A world with more events has gone wild. */
  readonly eventsMax?: number;
}

type Event<M extends ProcessMemory> =
  | { readonly kind: "arrival"; readonly packet: Packet }
  | { readonly kind: "wake"; readonly process: SimProcess<M> }
  | { readonly kind: "resume"; readonly process: SimProcess<M> }
  | { readonly kind: "act"; readonly act: () => void }
  | { readonly kind: "crash"; readonly processes: readonly number[] }
  | { readonly kind: "notice"; readonly process: number; readonly dead: number };

export interface Stuck {
  readonly rank: number;
  readonly waitsFor: string;
}

export class World<M extends ProcessMemory = SimMemory> {
  readonly network: Network;
  readonly trace: Trace;
  /** How many there are, and how many there may be. */
  nodes: number;
  readonly nodesMax: number;
  /** Changed by the dispatcher alone: a process is where it began (`SimProcess.node`), and the next life of its rank begins here. */
  readonly placement: Placement;
  /** By process: the node on which its last life has begun. */
  readonly #places: number[];
  readonly nodeMap: NodeMap;
  readonly #ranks: number;
  readonly cost: CostModel;
  readonly #options: WorldOptions<M>;
  readonly #processes: SimProcess<M>[] = [];
  /** Arrays that are as long as the world has processes are there once, not once for each process. */
  readonly #worldGroup: Group;
  /** By number, the worlds of processes that were born later. */
  readonly #laterWorlds = new Map<number, readonly number[]>();
  readonly #queue = new Agenda<Event<M>>();
  readonly #random: Random;
  readonly #eventsMax: number;
  /** When each process hears of the last death: all processes hear of deaths in one order (rule 7). */
  readonly #lastNoticeNs: Float64Array;
  readonly #links: SimLinks;
  /** By node, where there are any; and the board of all ranks, −1: there is none. */
  readonly #boards: (NodeBoards | null)[];
  #worldBoard = -1;
  readonly boardCounts: BoardCounts = { meetings: 0, withdrawn: 0, lent: 0 };
  /** Nodes that stand still, and what would have happened to their processes meanwhile. */
  readonly #stopped = new Map<number, Event<M>[]>();
  /** Processes that are taken for dead and live. The number of each is its index behind the ranks. */
  readonly #suspects: SimProcess<M>[] = [];
  #suspectNodes = 0;
  /** Whose program runs. */
  #running: SimProcess<M> | null = null;
  #endNs = Number.POSITIVE_INFINITY;
  readonly #rest: Rest;

  constructor(options: WorldOptions<M>) {
    const { ranks, nodes = 1, nodesMax = nodes } = options;
    const count = ranks * Math.max(1, ...(options.replicas ?? []));
    assert(ranks >= 1 && nodes >= 1 && nodes <= count, `a world of ${count} processes on ${nodes} nodes`);
    this.#ranks = ranks;
    this.nodes = nodes;
    this.nodesMax = nodesMax;
    this.#options = options;
    const cost = { ...costModelDefault, ...options.cost };
    this.cost = cost;
    this.#random = new Random(options.seed ?? 1);
    this.#eventsMax = options.eventsMax ?? Number.POSITIVE_INFINITY;
    this.trace = new Trace(options.listener ?? null);
    const inBlocks = Array.from({ length: count }, (_, process) => Math.floor((process * nodes) / count));
    this.placement = placementOf(inBlocks);
    this.#places = [...inBlocks];
    this.nodeMap = nodeMapOf(options.nodeMap ?? inBlocks.slice(0, ranks));
    assert(this.nodeMap.length === ranks, `a world of ${ranks} ranks with a node map of ${this.nodeMap.length}`);
    this.#links = new SimLinks((number) => this.#places[this.network.rankOf(number)]!);
    const ranksOfNodeMax = nodesMax > nodes ? count : Math.ceil(count / nodes);
    this.network = new Network({
      ranks: count,
      placement: placementOf(this.#places),
      arenas: Array.from({ length: nodesMax }, () =>
        options.hasImages === true ? new Arena((ranksOfNodeMax + 1) * regionBytes, ranksOfNodeMax) : new Arena(),
      ),
      cost,
      random: this.#random.fork(),
      ports: {
        nowNs: () => this.nowNs + (this.#running?.aheadNs ?? 0),
        planArrival: (timeNs, packet) => this.#queue.plan(timeNs, { kind: "arrival", packet }),
        delayNs: (from, to) => this.#links.delayNs(from, to) + (options.delayNs?.(from, to) ?? 0),
        planRoom: (number) => this.#wake(this.#at(number), this.#delay(cost.latencyInsideNs)),
      },
    });
    this.#worldGroup = Group.world(options.ranksFirst ?? ranks);
    this.#boards = Array.from({ length: nodesMax }, () => null);
    for (let node = 0; node < nodes; node++) this.#newBoards(node);
    this.#lastNoticeNs = new Float64Array(count);
    this.#rest = new Rest(count);
    for (let number = 0; number < count; number++) {
      const wake = (): void => this.#wake(this.#at(number), this.#delay(cost.wakeNs));
      this.#processes.push(this.#newProcess(number, options.protocol?.(number, wake) ?? null));
    }
    for (const { number } of this.#processes) {
      const { rank, replica } = this.nameOf(number);
      if (replica < (options.replicas?.[rank] ?? 1)) continue;
      this.#processes[number]!.state = "dead";
      this.network.crash(number);
    }
  }

  nameOf(process: number): ProcessName {
    return { rank: process % this.#ranks, replica: Math.floor(process / this.#ranks) };
  }

  /** The node has none yet, or begins anew. */
  #newBoards(node: number): void {
    const { boards, ranks } = this.#options;
    this.#boards[node] = null;
    if (this.nodes > 1) this.#worldBoard = -1;
    if (boards === undefined || boards.mayUse?.(node, this.placement) === false) return;
    const made = new NodeBoards(this.network.arenaOfNode(node), boards);
    this.#boards[node] = made;
    const isWhole = this.#options.ranksFirst === undefined;
    if (this.nodes === 1 && ranks > 1 && isWhole) this.#worldBoard = made.claim(ranks);
  }

  #boardsOf(rank: number, memory: Memory, { number }: { readonly number: () => number }): SimBoards | null {
    const ofNode = this.#boards[this.placement[rank]!]!;
    if (ofNode === null) return null;
    return new SimBoards(ofNode, {
      later: (act) => this.plan(this.nowNs + this.#delay(0), act),
      wake: (other) => this.#wake(this.#reached(number(), other), this.#delay(this.cost.wakeNs)),
      // A rank that has been moved is not here any more, also before it has begun where it is now.
      isHere: (other) => this.network.sameNode(number(), other) && this.placement[other] === this.placement[rank],
      fetch: (to, toOffset, from, bytes) => memory.copy(to, toOffset, from as Pointer, 0, bytes),
      counts: this.boardCounts,
    });
  }

  /** `lives`: which life of each rank is the present one, itself among them; all first ones unless given. */
  #newProcess(number: number, protocol: NewProtocol | null, lives?: readonly number[]): SimProcess<M> {
    const { ranks, replicas = [], sharesInside = false, unexpectedBytesMax, memoryOf } = this.#options;
    const { cost, network, nodeMap } = this;
    const arena = network.arenaOf(number);
    const memory = memoryOf?.(number, arena) ?? (new SimMemory(arena, number) as unknown as M);
    const { identityOf, eagerLimit } = this.#options;
    const { rank, replica } = this.nameOf(number);
    const identity = identityOf?.(number) ?? { rank, replica, incarnation: lives?.[number] ?? 0 };
    const transport: SimTransport = new SimTransport({
      rank: number,
      network,
      memory,
      cost,
      sharesInside,
      identity,
      eagerBytesMax: eagerLimit === undefined ? undefined : (to) => eagerLimit(identity, to),
      neighbour: (other) => this.#reached(transport.number, other).transport,
      wake: (other) => this.#wake(this.#reached(transport.number, other), this.#delay(cost.wakeNs)),
    });
    const core = new Process({
      rank,
      replica,
      replicas: Math.max(1, ...replicas),
      ...this.#worldOf(rank),
      universe: ranks,
      nodeMap,
      transport,
      memory,
      protocol,
      boards: this.#boardsOf(number, memory, { number: () => transport.number }),
      worldBoard: this.#worldBoard,
      ...(unexpectedBytesMax === undefined ? {} : { unexpectedBytesMax }),
      // Where ranks have several processes the protocol knows their lives.
      ...(lives === undefined || replicas.length > 0 ? {} : { incarnations: lives }),
    });
    return new SimProcess({ number, node: this.placement[number]!, memory, transport, core });
  }

  #worldOf(rank: number): Pick<ProcessOptions, "ranks" | "worldGroup" | "worldContext"> {
    const { size } = this.#worldGroup;
    if (rank < size) return { ranks: size, worldGroup: this.#worldGroup };
    const world = this.#laterWorlds.get(rank) ?? [rank];
    return { ranks: world.length, worldGroup: Group.of(world), worldContext: spawnedWorldContext(world[0]!) };
  }

  /** By number: the present life of each process, or its last one. */
  get processes(): readonly SimProcess<M>[] {
    return this.#processes;
  }

  /** A new life of a dead rank, without a program yet. It speaks with these lives of the others, and that one of itself. */
  revive(rank: number, lives: readonly number[], protocol: NewProtocol): SimProcess<M> {
    assert(this.#processes[rank]!.state === "dead", `rank ${rank} is revived, and it is not dead`);
    const node = this.placement[rank]!;
    const isEmpty = this.#processes.every((process) => process.node !== node || process.state === "dead");
    this.#places[rank] = node;
    if (isEmpty) {
      this.network.renewArena(node);
      this.#newBoards(node);
    } else this.network.arenaOf(rank).clear(rank);
    this.network.revive(rank, lives);
    this.trace.note(this.nowNs, "revival", [rank, lives[rank]!]);
    const process = this.#newProcess(rank, protocol, lives);
    this.#processes[rank] = process;
    return process;
  }

  /** Of a world of processes that begin together, one is there, without a program yet. It knows of the deaths so far. */
  bear(rank: number, world: readonly number[]): SimProcess<M> {
    const before = this.#processes[rank]!;
    assert(before.state === "passive", `process ${rank} is born, and it is ${before.state}`);
    this.#laterWorlds.set(rank, world);
    const process = this.#newProcess(rank, null);
    this.#processes[rank] = process;
    for (const dead of before.core.failures.ranks) process.core.peerFailed({ rank: dead, replica: 0 }, 0);
    return process;
  }

  /** There are so many nodes now; nobody is on the new ones. */
  openNodes(nodes: number): void {
    assert(nodes <= this.nodesMax, `a world of ${this.nodesMax} nodes at most has ${nodes}`);
    this.nodes = Math.max(this.nodes, nodes);
  }

  get nowNs(): number {
    return this.#queue.nowNs;
  }

  /** The program of one process begins now. */
  start(process: number, program: RankProgram<M>): void {
    this.processes[process]!.start(program);
    this.#wake(this.#at(process), this.#delay(0));
  }

  startAll(program: RankProgram<M>): void {
    for (const { number, state } of this.processes) if (state !== "dead") this.start(number, program);
  }

  /** That process dies at that time; the others are told `detectionNs` later. */
  planCrash(timeNs: number, process: number): void {
    this.#queue.plan(timeNs, { kind: "crash", processes: [process] });
  }

  planNodeCrash(timeNs: number, node: number): void {
    const processes = this.processes.filter((process) => process.node === node).map(({ number }) => number);
    this.#queue.plan(timeNs, { kind: "crash", processes });
  }

  /** Something of the world outside happens at that time. */
  plan(timeNs: number, act: () => void): void {
    this.#queue.plan(timeNs, { kind: "act", act });
  }

  /** That process has a reason to look, now or at that time; and so have suspects of that rank. */
  wake(rank: number, timeNs = this.nowNs): void {
    this.#queue.plan(timeNs, { kind: "wake", process: this.#processes[rank]! });
    for (const process of this.#suspects) {
      if (process.rank === rank) this.#queue.plan(timeNs, { kind: "wake", process });
    }
  }

  #at(number: number): SimProcess<M> {
    return this.#processes[number] ?? this.#suspects[number - this.#processes.length]!;
  }

  /** The process that another one reaches by a rank. */
  #reached(from: number, rank: number): SimProcess<M> {
    return this.#at(this.network.reached(from, rank));
  }

  // Suspects

  /**
   * The processes of a node are taken for dead, and live: they run, or stand still, until `endSuspects`; a peer that has not heard of it
   * hears them and is heard by them. The number that their node has from now on.
   */
  disown(node: number): number {
    const other = this.nodesMax + this.#suspectNodes++;
    this.trace.note(this.nowNs, "disown", [node]);
    const missed = this.#stopped.get(node);
    if (this.#stopped.delete(node)) this.#stopped.set(other, missed!);
    for (const [rank, process] of this.#processes.entries()) {
      if (process.node !== node || process.state === "dead") continue;
      process.transport.disowned(this.network.disown(rank));
      process.isSuspect = true;
      process.node = other;
      this.#suspects.push(process);
      const past = new SimProcess(process);
      past.node = node;
      past.state = "dead";
      this.#processes[rank] = past;
    }
    return other;
  }

  /** No suspect is left. */
  endSuspects(): void {
    for (const process of this.#suspects) {
      if (process.state === "dead") continue;
      process.state = "dead";
      this.network.crash(process.transport.number);
      process.transport.close();
    }
    for (let i = 0; i < this.#suspectNodes; i++) this.#stopped.delete(this.nodesMax + i);
  }

  // Faults without a death

  /** Nothing passes between two nodes until the link is restored; nothing is lost. */
  cutLink(one: number, other: number): void {
    this.trace.note(this.nowNs, "cut", [one, other]);
    this.#links.cut(one, other);
  }

  /** Packets between two nodes take longer by `byNs` from now on. */
  delayLink(one: number, other: number, byNs: number): void {
    this.restoreLink(one, other);
    this.trace.note(this.nowNs, "delay", [one, other, byNs]);
    this.#links.delay(one, other, byNs);
  }

  restoreLink(one: number, other: number): void {
    this.trace.note(this.nowNs, "restore", [one, other]);
    for (const packet of this.#links.restore(one, other)) this.#queue.plan(this.nowNs, { kind: "arrival", packet });
  }

  /** The node's processes do nothing until it goes on; what is sent to them arrives. */
  stopNode(node: number): void {
    this.trace.note(this.nowNs, "stop", [node]);
    if (!this.#stopped.has(node)) this.#stopped.set(node, []);
  }

  isStopped(node: number): boolean {
    return this.#stopped.has(node);
  }

  continueNode(node: number): void {
    this.trace.note(this.nowNs, "continue", [node]);
    const missed = this.#stopped.get(node) ?? [];
    this.#stopped.delete(node);
    for (const event of missed) this.#queue.plan(this.nowNs, event);
  }

  /** Nothing happens after that time. */
  end(timeNs: number): void {
    this.#endNs = Math.min(this.#endNs, timeNs);
  }

  /** Runs until no event is left; the processes that still wait then. Passive processes never count as waiting. */
  run(): Stuck[] {
    do this.#runToRest();
    while (this.nowNs <= this.#endNs && this.#rest.isWorthAsking(this.#processes) && this.#ask());
    return this.processes.filter(({ state }) => state === "waiting").map(({ rank, waitsFor }) => ({ rank, waitsFor }));
  }

  #runToRest(): void {
    const { inquiryNs = Number.POSITIVE_INFINITY } = this.#options;
    let dueNs = this.nowNs + inquiryNs;
    for (let event = this.#queue.take(); event !== undefined; event = this.#queue.take()) {
      if (this.nowNs > this.#endNs) return;
      this.#happen(event);
      assert(this.trace.events <= this.#eventsMax, `a world of more than ${this.#eventsMax} events`);
      if (this.nowNs < dueNs || this.#queue.size === 0) continue;
      dueNs = this.nowNs + inquiryNs;
      this.#ask();
    }
  }

  /** Processes that wait have waited long, and may ask the others. False: none has anything to ask. */
  #ask(): boolean {
    let asked = false;
    for (const process of this.#processes) {
      if (process.state !== "waiting" || this.isStopped(process.node) || !process.core.inquiries.ask()) continue;
      this.#wake(process, 0);
      asked = true;
    }
    return asked;
  }

  #happen(event: Event<M>): void {
    if (this.#stopped.size !== 0 && (event.kind === "wake" || event.kind === "resume")) {
      const missed = this.#stopped.get(event.process.node);
      if (missed !== undefined) {
        missed.push(event);
        return;
      }
    }
    switch (event.kind) {
      case "arrival":
        this.#arrive(event.packet);
        return;
      case "wake":
        this.#look(event.process);
        return;
      case "resume":
        event.process.resume();
        this.#look(event.process);
        return;
      case "act":
        event.act();
        return;
      case "crash":
        for (const process of event.processes) this.crash(process);
        return;
      case "notice": {
        const process = this.processes[event.process]!;
        if (process.state === "dead") return;
        this.trace.note(this.nowNs, "notice", [event.process, event.dead]);
        process.core.peerFailed(this.nameOf(event.dead), 0);
        this.#wake(process, 0);
        return;
      }
      default:
        unreachable(event);
    }
  }

  #arrive(packet: Packet): void {
    const { from, to } = packet.channel;
    if (this.#links.holds(packet)) return;
    if (!this.network.arrive(packet)) {
      this.trace.note(this.nowNs, "lost", [from, to, packet.number]);
      return;
    }
    const { words } = this.network.arenaOf(to);
    const at = packet.at >> 2;
    // Tags are ours to invent and sizes the program's; addresses are left out: they are the process's own.
    this.trace.note(this.nowNs, "arrival", [from, to, words[at + KIND]!, words[at + CONTEXT]!, words[at + TAG]!]);
    const process = this.#at(to);
    process.transport.take(packet);
    this.#wake(process, this.#delay(this.cost.wakeNs));
  }

  #look(process: SimProcess<M>): void {
    process.wakePlanned = false;
    if (process.state === "dead" || process.state === "computing") return;
    this.trace.note(this.nowNs, "look", [process.number]);
    this.#running = process;
    const computesNs = process.look();
    this.#running = null;
    if (computesNs >= 0) this.#queue.plan(this.nowNs + computesNs, { kind: "resume", process });
  }

  /** It dies now. */
  crash(number: number): void {
    const process = this.processes[number]!;
    if (process.state === "dead") return;
    this.trace.note(this.nowNs, "crash", [number]);
    const before = process.state;
    process.state = "dead";
    this.network.crash(number);
    process.transport.close();
    if (this.#options.crashed !== undefined) {
      this.#options.crashed(number, before);
      return;
    }
    for (const other of this.processes) {
      if (other.state === "dead") continue;
      const timeNs = Math.max(this.#lastNoticeNs[other.number]!, this.nowNs + this.#delay(this.cost.detectionNs));
      this.#lastNoticeNs[other.number] = timeNs;
      this.#queue.plan(timeNs, { kind: "notice", process: other.number, dead: number });
    }
  }

  #wake(process: SimProcess<M>, delayNs: number): void {
    if (process.wakePlanned || process.state === "dead") return;
    process.wakePlanned = true;
    this.#queue.plan(this.nowNs + delayNs, { kind: "wake", process });
  }

  #delay(leastNs: number): number {
    return leastNs + (this.cost.jitterNs === 0 ? 0 : this.#random.below(this.cost.jitterNs));
  }
}
