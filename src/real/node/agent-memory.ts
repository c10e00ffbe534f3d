/**
 * The shared memory of a node: what its ranks exchange messages through. The seam between the agent, which owns the
 * node's main thread, and `real/transport`, which owns the layout.
 */
import { type Placement, ranksOfNode } from "../../core/service/placement.ts";
import type { KeptNumbers } from "../../core/service/set-checkpoints.ts";
import type { Life } from "../messages/lives.ts";
import type { DeathNotice } from "../messages/node-messages.ts";
import { layoutOf, stopFor } from "../transport/layout.ts";
import { LivingProcesses } from "../transport/living-processes.ts";
import { enterNodeMemory, type NodeMemory, newNodeMemory, type SharedNode } from "../transport/node-memory.ts";
import { type Notice, NoticeBoard, NoticeKind } from "../transport/notices.ts";
import { claimBoard } from "../transport/shared-board.ts";

interface AgentMemoryOptions {
  readonly node: number;
  /** Ranks that the job starts with. */
  readonly ranks: number;
  /** Of each process that the job can have. */
  readonly placement: Placement;
  readonly memoryMb: number;
  /** Ranks of other nodes that can be adopted, beside its own; none unless given. */
  readonly guests?: number;
  /** Wakes a process that sleeps over its sockets. */
  readonly wakeElsewhere: (process: number) => void;
}

/** How long until a slot that a living process has to move away from, or a full log of notices, is looked at again. */
const settleMs = 5;
/** The same for news that a rank waits for others to have heard. */
const hearMs = 1;

export class AgentMemory {
  /** Put into the `workerData` of every rank of this node. */
  readonly shared: SharedNode;
  /** All deaths that the dispatcher has declared, in its order: processes that are born later must know of them. */
  readonly deaths: Life[] = [];
  readonly #places = new Map<number, number>();
  /** Places that ranks have left whose threads have not ended. */
  readonly #leaving = new Map<number, number>();
  readonly #population: LivingProcesses;
  readonly #notices: NoticeBoard;
  /** Notices that have not found room on the board yet. */
  readonly #untold: Notice[] = [];
  readonly #main: NodeMemory;

  constructor({ node, ranks, placement, memoryMb, guests = 0, wakeElsewhere }: AgentMemoryOptions) {
    const ranksHere = ranksOfNode(placement, node);
    for (const [place, rank] of ranksHere.entries()) this.#places.set(rank, place);
    const layout = layoutOf({ processes: ranksHere.length + guests, memoryBytes: memoryMb << 20 });
    const memory = newNodeMemory(layout);
    const main = enterNodeMemory(memory, layout, -1);
    this.#main = main;
    this.shared = {
      memory,
      layout,
      worldBoard: this.#claimBoard(
        ranksHere.filter((rank) => rank < ranks),
        ranks,
      ),
    };
    this.#population = new LivingProcesses(main, wakeElsewhere);
    this.#notices = new NoticeBoard(main, this.#population);
  }

  /** How many packets have been sent inside the node. */
  get packets(): number {
    return this.#population.packets;
  }

  /** For the ranks of a spawned world, which has a board of its own where all of it is on this node. */
  sharedBy(world: readonly number[]): SharedNode {
    const here = world.filter((rank) => this.#places.has(rank));
    return { ...this.shared, worldBoard: this.#claimBoard(here, world.length) };
  }

  #claimBoard(here: readonly number[], size: number): number {
    return here.length === size && size > 1 ? claimBoard(this.#main, size) : -1;
  }

  /** Is that a rank of this node? */
  has(rank: number): boolean {
    return this.#places.has(rank);
  }

  /** Index in the node of one of its ranks. */
  placeOf(rank: number): number {
    return this.#places.get(rank)!;
  }

  /** By process of the job: its index in the node, −1: it is elsewhere. */
  placesOf(processes: number): Int32Array {
    return Int32Array.from({ length: processes }, (_, rank) => this.#places.get(rank) ?? -1);
  }

  /** A rank of another node will be here. Its place; −1: there is none. */
  adopt(rank: number): number {
    const taken = new Set([...this.#places.values(), ...this.#leaving.values()]);
    const place = Array.from({ length: this.shared.layout.processes }, (_, index) => index).find(
      (each) => !taken.has(each),
    );
    if (place === undefined) return -1;
    this.#places.set(rank, place);
    this.#population.adopted(place);
    return place;
  }

  /** It is elsewhere from now on. `hasThread`: its thread is about to end. */
  release(rank: number, hasThread: boolean): void {
    const place = this.#places.get(rank);
    this.#places.delete(rank);
    if (place !== undefined && hasThread) this.#leaving.set(rank, place);
  }

  /** There is something for the process with that index: wakes it if it sleeps. */
  ring(process: number): void {
    this.#population.ring(process);
  }

  /** Asks one of `Stop` of a rank of this node. */
  stop(rank: number, wanted: number): void {
    this.#population.stop(this.#places.get(rank)!, wanted);
  }

  /** A rank of this node shall stop for a checkpoint; these count already. */
  stopFor(rank: number, number: number, kept: KeptNumbers): void {
    this.#population.kept(this.#places.get(rank)!, kept);
    this.stop(rank, stopFor(number));
  }

  /** A rank of this node is about to start. */
  born(rank: number, incarnation: number): void {
    this.#population.born(this.#places.get(rank)!, incarnation);
  }

  /** A rank of this node has ended in order: its ring takes packets and drops them. */
  finished(rank: number): void {
    this.#population.finished(this.#places.get(rank)!);
  }

  /** The thread of a rank of this node is gone, and not in order. */
  died(rank: number): void {
    this.#population.died(this.#leaving.get(rank) ?? this.#places.get(rank)!);
    this.#leaving.delete(rank);
    this.#settle();
  }

  /** The dispatcher has declared a death, here or on another node: make it visible to this node's ranks, and wake them. */
  death({ rank, incarnation }: DeathNotice): void {
    this.deaths.push({ rank, incarnation });
    this.#tell(NoticeKind.DIED, rank, incarnation);
  }

  /** The same for a new life. Ranks that hear of it may talk to it: connections must know of it before. */
  returned({ rank, incarnation }: Life): void {
    this.#tell(NoticeKind.RETURNED, rank, incarnation, this.#places.get(rank) ?? -1);
  }

  /** Fulfilled when all ranks of this node that live have heard all news so far. */
  async whenHeard(): Promise<void> {
    while (this.#untold.length > 0 || !this.#notices.areRead) {
      await new Promise((resolve) => setTimeout(resolve, hearMs));
    }
  }

  /** A rank of this node was to go on elsewhere in that life, and will not. */
  stays(rank: number, incarnation: number): void {
    this.#tell(NoticeKind.STAYS, rank, incarnation);
  }

  /** The program of a rank is over, here or on another node, and there were deaths. */
  left(rank: number): void {
    this.#tell(NoticeKind.LEFT, rank, 0);
  }

  /** No image of a set older than that checkpoint will be restored. */
  oldest(set: number, checkpoint: number): void {
    this.#tell(NoticeKind.OLDEST, set, checkpoint);
  }

  #tell(kind: NoticeKind, rank: number, incarnation: number, place = -1): void {
    this.#untold.push({ kind, rank, incarnation, place });
    if (this.#untold.length === 1) this.#tellAll();
  }

  /** In order. The log is full only while a rank has not looked for a thousand notices; it will. */
  #tellAll(): void {
    while (this.#untold.length > 0 && this.#notices.append(this.#untold[0]!)) this.#untold.shift();
    if (this.#untold.length > 0) setTimeout(() => this.#tellAll(), settleMs);
  }

  #settle(): void {
    if (!this.#population.settle()) setTimeout(() => this.#settle(), settleMs);
  }

  /** Slots of dead processes are cleared: new lives can take their places. */
  async whenSettled(): Promise<void> {
    while (!this.#population.settle()) await new Promise((resolve) => setTimeout(resolve, settleMs));
  }
}
