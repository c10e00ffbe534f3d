/**
 * A simulated world: processes, network, clock and crashes in one thread, nothing asynchronous, everything that could go
 * one way or another decided by the seed. The core it runs is the one that ships.
 *
 * The world is driven by its event queue. It ends when nothing is left to happen; a process that still waits then waits for
 * ever, and the outcome says for what.
 */
import { assert, unreachable } from "../core/base/assert.ts";
import { Group } from "../core/comm/group.ts";
import type { Protocol } from "../core/ft/protocol.ts";
import { Process } from "../core/process/process.ts";
import { CONTEXT, KIND, TAG } from "../core/wire/packet.ts";
import { Arena } from "./arena.ts";
import { type CostModel, costModelDefault } from "./cost-model.ts";
import { EventQueue } from "./event-queue.ts";
import { type ProcessMemory, SimMemory } from "./memory.ts";
import { Network, type Packet } from "./network.ts";
import { Random } from "./random.ts";
import { type Program, SimProcess } from "./sim-process.ts";
import { Trace } from "./trace.ts";
import { SimTransport } from "./transport.ts";

export interface WorldOptions<M extends ProcessMemory = SimMemory> {
  readonly ranks: number;
  /** Ranks in blocks, as in the real world. */
  readonly nodes?: number;
  readonly seed?: number;
  readonly cost?: Partial<CostModel>;
  /** Processes of a node read and write each other's memory. */
  readonly sharesInside?: boolean;
  /** `wake` makes that process look at what it can do. */
  readonly protocol?: (rank: number, wake: () => void) => Protocol | null;
  readonly unexpectedBytesMax?: number;
  /** A share of the node's arena unless given. */
  readonly memoryOf?: (rank: number, arena: Arena) => M;
  /** Gets a line for each event. */
  readonly listener?: (line: string) => void;
  /** A world with more events has gone wild. */
  readonly eventsMax?: number;
}

type Event =
  | { readonly kind: "arrival"; readonly packet: Packet }
  | { readonly kind: "wake"; readonly rank: number }
  | { readonly kind: "resume"; readonly rank: number }
  | { readonly kind: "act"; readonly act: () => void }
  | { readonly kind: "crash"; readonly ranks: readonly number[] }
  | { readonly kind: "notice"; readonly rank: number; readonly dead: number };

export interface Stuck {
  readonly rank: number;
  readonly waitsFor: string;
}

export class World<M extends ProcessMemory = SimMemory> {
  readonly processes: readonly SimProcess<M>[];
  readonly network: Network;
  readonly trace: Trace;
  readonly nodes: number;
  readonly cost: CostModel;
  readonly #queue = new EventQueue<Event>();
  readonly #random: Random;
  readonly #eventsMax: number;
  /** When each process hears of the last death: deaths are told to everybody in one order (rule 7). */
  readonly #lastNoticeNs: Float64Array;
  /** Whose program runs. */
  #running: SimProcess<M> | null = null;
  #endNs = Number.POSITIVE_INFINITY;

  constructor(options: WorldOptions<M>) {
    const { ranks, nodes = 1, sharesInside = false } = options;
    assert(ranks >= 1 && nodes >= 1 && nodes <= ranks, `a world of ${ranks} ranks on ${nodes} nodes`);
    this.nodes = nodes;
    const cost = { ...costModelDefault, ...options.cost };
    this.cost = cost;
    this.#random = new Random(options.seed ?? 1);
    this.#eventsMax = options.eventsMax ?? Number.POSITIVE_INFINITY;
    this.trace = new Trace(options.listener ?? null);
    const nodeOf = Int32Array.from({ length: ranks }, (_, rank) => Math.floor((rank * nodes) / ranks));
    this.network = new Network({
      ranks,
      nodeOf,
      arenas: Array.from({ length: nodes }, () => new Arena()),
      cost,
      random: this.#random.fork(),
      ports: {
        nowNs: () => this.nowNs + (this.#running?.aheadNs ?? 0),
        planArrival: (timeNs, packet) => this.#queue.plan(timeNs, { kind: "arrival", packet }),
        planRoom: (rank) => this.#wake(rank, this.#delay(cost.latencyInsideNs)),
      },
    });
    // What is as long as the world is there once, not once for each process.
    const worldGroup = Group.world(ranks);
    const processes: SimProcess<M>[] = [];
    const memoryOf = options.memoryOf ?? ((rank, arena) => new SimMemory(arena, rank) as unknown as M);
    for (let rank = 0; rank < ranks; rank++) {
      const memory = memoryOf(rank, this.network.arenaOf(rank));
      const transport = new SimTransport({
        rank,
        network: this.network,
        memory,
        cost,
        sharesInside,
        neighbour: (other) => processes[other]!.transport,
        wake: (other) => this.#wake(other, this.#delay(cost.wakeNs)),
      });
      const { unexpectedBytesMax } = options;
      const core = new Process({
        rank,
        ranks,
        worldGroup,
        nodeOf,
        transport,
        memory,
        protocol: options.protocol?.(rank, () => this.#wake(rank, this.#delay(cost.wakeNs))) ?? null,
        ...(unexpectedBytesMax === undefined ? {} : { unexpectedBytesMax }),
      });
      processes.push(new SimProcess({ node: nodeOf[rank]!, memory, transport, core }));
    }
    this.processes = processes;
    this.#lastNoticeNs = new Float64Array(ranks);
  }

  get nowNs(): number {
    return this.#queue.nowNs;
  }

  /** The program of one rank begins now. */
  start(rank: number, program: Program<M>): void {
    this.processes[rank]!.start(program);
    this.#wake(rank, this.#delay(0));
  }

  startAll(program: Program<M>): void {
    for (const { rank } of this.processes) this.start(rank, program);
  }

  /** That process dies at that time; the others are told `detectionNs` later. */
  planCrash(timeNs: number, rank: number): void {
    this.#queue.plan(timeNs, { kind: "crash", ranks: [rank] });
  }

  planNodeCrash(timeNs: number, node: number): void {
    const ranks = this.processes.filter((process) => process.node === node).map(({ rank }) => rank);
    this.#queue.plan(timeNs, { kind: "crash", ranks });
  }

  /** Something of the world outside happens at that time. */
  plan(timeNs: number, act: () => void): void {
    this.#queue.plan(timeNs, { kind: "act", act });
  }

  /** That process has a reason to look, now or at that time. */
  wake(rank: number, timeNs = this.nowNs): void {
    this.#queue.plan(timeNs, { kind: "wake", rank });
  }

  /** Nothing happens after that time. */
  end(timeNs: number): void {
    this.#endNs = Math.min(this.#endNs, timeNs);
  }

  /** Makes everything happen that can happen; who is stuck then. Passive processes never are. */
  run(): Stuck[] {
    for (let event = this.#queue.take(); event !== undefined; event = this.#queue.take()) {
      if (this.nowNs > this.#endNs) break;
      this.#happen(event);
      assert(this.trace.events <= this.#eventsMax, `a world of more than ${this.#eventsMax} events`);
    }
    return this.processes.filter(({ state }) => state === "waiting").map(({ rank, waitsFor }) => ({ rank, waitsFor }));
  }

  #happen(event: Event): void {
    switch (event.kind) {
      case "arrival":
        this.#arrive(event.packet);
        return;
      case "wake":
        this.#look(event.rank);
        return;
      case "resume":
        this.processes[event.rank]!.resume();
        this.#look(event.rank);
        return;
      case "act":
        event.act();
        return;
      case "crash":
        for (const rank of event.ranks) this.#crash(rank);
        return;
      case "notice": {
        const process = this.processes[event.rank]!;
        if (process.state === "dead") return;
        this.trace.note(this.nowNs, "notice", [event.rank, event.dead]);
        process.core.peerFailed(event.dead, 0);
        this.#wake(event.rank, 0);
        return;
      }
      default:
        unreachable(event);
    }
  }

  #arrive(packet: Packet): void {
    const { from, to } = packet.channel;
    if (!this.network.arrive(packet)) {
      this.trace.note(this.nowNs, "lost", [from, to, packet.number]);
      return;
    }
    const { words } = this.network.arenaOf(to);
    const at = packet.at >> 2;
    // Tags are ours to invent and sizes the program's; addresses are left out, they are nobody's business.
    this.trace.note(this.nowNs, "arrival", [from, to, words[at + KIND]!, words[at + CONTEXT]!, words[at + TAG]!]);
    this.processes[to]!.transport.take(packet);
    this.#wake(to, this.#delay(this.cost.wakeNs));
  }

  #look(rank: number): void {
    const process = this.processes[rank]!;
    process.wakePlanned = false;
    if (process.state === "dead" || process.state === "computing") return;
    this.trace.note(this.nowNs, "look", [rank]);
    this.#running = process;
    const computesNs = process.look();
    this.#running = null;
    if (computesNs >= 0) this.#queue.plan(this.nowNs + computesNs, { kind: "resume", rank });
  }

  #crash(rank: number): void {
    const process = this.processes[rank]!;
    if (process.state === "dead") return;
    this.trace.note(this.nowNs, "crash", [rank]);
    process.state = "dead";
    this.network.crash(rank);
    process.transport.close();
    for (const other of this.processes) {
      if (other.state === "dead") continue;
      const timeNs = Math.max(this.#lastNoticeNs[other.rank]!, this.nowNs + this.#delay(this.cost.detectionNs));
      this.#lastNoticeNs[other.rank] = timeNs;
      this.#queue.plan(timeNs, { kind: "notice", rank: other.rank, dead: rank });
    }
  }

  #wake(rank: number, delayNs: number): void {
    const process = this.processes[rank]!;
    if (process.wakePlanned || process.state === "dead") return;
    process.wakePlanned = true;
    this.#queue.plan(this.nowNs + delayNs, { kind: "wake", rank });
  }

  #delay(leastNs: number): number {
    return leastNs + (this.cost.jitterNs === 0 ? 0 : this.#random.below(this.cost.jitterNs));
  }
}
