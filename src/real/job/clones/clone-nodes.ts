/**
 * The nodes that clones begin on: a node that is lost has a successor, a spare or another process, and a replica that is moved may need a node that was not there. Both begin
 * empty, and clones can go there when they are ready. Which spare takes which place is decided in `core/service/spare-nodes.ts`.
 */
import type { Dispatcher } from "../../../core/service/dispatcher.ts";
import { type Placement, ranksOfNode } from "../../../core/service/placement.ts";
import type { ReplicaMove, ReplicaPlaces } from "../../../core/service/replica-moves.ts";
import { SpareNodes } from "../../../core/service/spare-nodes.ts";
import type { JobNodes } from "../nodes/job-nodes.ts";
import type { JobReport } from "../report/job-report.ts";

export interface CloneNodesOptions {
  readonly placement: Placement;
  /** How many nodes are in reserve. */
  readonly spares: number;
  /** Clones are of programs whose memory travels to them. */
  readonly areForMemories: boolean;
  /** Of each process. */
  readonly memoryMb: number;
  /** Ranks of other nodes that a node has places for beside those that it began with. */
  readonly guests: number;
}

interface CloneNodesParts {
  readonly core: Pick<Dispatcher, "outcome" | "state" | "isNodeAlive" | "nodeAgain" | "openNode">;
  readonly nodes: Pick<JobNodes, "replace" | "prepareSpare" | "startReserve" | "reserveMemory">;
  readonly report: Pick<JobReport, "note">;
}

/** Memory that gets ready for a clone, to that which is used. */
const growth = 1.1;

/** A node that was started again so often in a row and never had its ranks back, spares apart, is not any more. */
const nodeStartsMax = 5;

export class CloneNodes {
  readonly #options: CloneNodesOptions;
  readonly #parts: CloneNodesParts;
  readonly #nodesFirst: number;
  /** By node: how many processes have places there. */
  readonly #placesOn = new Map<number, number>();
  /** None before all ranks have begun: then they are started. */
  #spares = new SpareNodes(0, nodeStartsMax);
  /** By node that was lost, or was not there: the spare that has its place, 0: another process; and those of them that are ready. */
  readonly #successors = new Map<number, number>();
  readonly #ready = new Set<number>();
  /** Lost, and nobody takes their places. */
  readonly #abandoned = new Set<number>();
  /** What processes in reserve were told to get ready. */
  #reservedMb = 0;

  constructor(options: CloneNodesOptions, parts: CloneNodesParts) {
    this.#options = options;
    this.#parts = parts;
    this.#nodesFirst = parts.core.state.nodes.length;
  }

  // Processes in reserve

  allBegan(): void {
    const { nodes, report } = this.#parts;
    const { spares, areForMemories } = this.#options;
    if (spares === 0) nodes.prepareSpare(areForMemories);
    this.#spares = new SpareNodes(spares, nodeStartsMax);
    nodes.startReserve(spares, areForMemories, (spare) => {
      if (this.#spares.lost(spare)) report.note(`spare ${spare} is gone, and takes no place`);
    });
  }

  /** A rank uses so much of its memory: processes in reserve get as much ready for its clone, and some more, because most programs grow. */
  uses(usedMb: number): void {
    if (usedMb <= this.#reservedMb) return;
    this.#reservedMb = Math.ceil(usedMb * growth);
    const { memoryMb } = this.#options;
    this.#parts.nodes.reserveMemory({ memoryMb, usedMb: Math.min(memoryMb, this.#reservedMb) });
  }

  /** Another process for the next loss. Not sooner than all are there: it would take the processors from those that come. */
  prepareSpare(): void {
    const { core, nodes } = this.#parts;
    if (core.outcome === undefined && this.#spares.left.length === 0) nodes.prepareSpare(this.#options.areForMemories);
  }

  // Nodes that begin empty

  /** A node is about to start, or to start some ranks. Does it begin empty? */
  starts(node: number): boolean {
    const { placement, guests } = this.#options;
    if (!this.#placesOn.has(node)) this.#placesOn.set(node, ranksOfNode(placement, node).length + guests);
    return this.#successors.has(node);
  }

  /** Another process in the place of a node, if that is gone. */
  replaceLost(node: number): void {
    const { core, nodes, report } = this.#parts;
    if (core.isNodeAlive(node) || this.#abandoned.has(node)) return;
    const successor = this.#spares.successorOf(node);
    if (successor === null) {
      this.#abandoned.add(node);
      report.note(`node ${node} is not started again: it ended ${nodeStartsMax} times before its ranks were back`);
    }
    if (successor === null || !core.nodeAgain(node)) return;
    this.#successors.set(node, successor.spare);
    this.#placesOn.delete(node);
    nodes.replace(node, [], successor.spare);
  }

  /** Replicas are moved to a node; one that is not there is opened. False: the job ends. */
  openFor({ node, spare }: ReplicaMove): boolean {
    const { core, nodes } = this.#parts;
    if (spare === null) return true;
    if (spare > 0) this.#spares.take(spare);
    if (!core.openNode(node)) return false;
    this.#ready.delete(node);
    this.#placesOn.delete(node);
    this.#successors.set(node, spare);
    nodes.replace(node, [], spare);
    return true;
  }

  ready(node: number): void {
    this.#ready.add(node);
  }

  ended(node: number): void {
    this.#ready.delete(node);
  }

  /** What was there is back. */
  regained(node: number): void {
    this.#spares.regained(node);
  }

  /** Is that node there, and has it said so? */
  isThere(node: number): boolean {
    return this.#parts.core.isNodeAlive(node) && (!this.#successors.has(node) || this.#ready.has(node));
  }

  /** The spare in the place of that node; 0: none. */
  spareOf(node: number): number {
    return this.#successors.get(node) ?? 0;
  }

  /** Where replicas can be moved to. */
  get places(): Pick<
    ReplicaPlaces,
    "placement" | "spares" | "nodesFirst" | "nodes" | "sparesLeft" | "isNodeAlive" | "roomOf" | "roomOfNew"
  > {
    const { core } = this.#parts;
    const { placement, spares, guests } = this.#options;
    return {
      placement,
      spares,
      nodesFirst: this.#nodesFirst,
      nodes: core.state.nodes.length,
      sparesLeft: this.#spares.left,
      isNodeAlive: (node) => core.isNodeAlive(node),
      roomOf: (node) => (this.#placesOn.get(node) ?? 0) - ranksOfNode(placement, node).length,
      roomOfNew: guests,
    };
  }
}
