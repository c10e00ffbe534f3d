/**
 * Replicas that go on on another node because somebody wants it (`banyan move`, ADR 79), as the dispatcher sees them: one order at a time, its replicas one after the other. Here is
 * whether an order can be followed, where its replicas go, what has come of it, and which nodes are empty afterwards. How they get there is the business of `JobClones`.
 */
import type { ProcessName } from "../../../core/base/identity.ts";
import type { MovedReplica } from "../../../core/ft/clones.ts";
import type { Dispatcher } from "../../../core/service/dispatcher.ts";
import { type Placement, ranksOfNode } from "../../../core/service/placement.ts";
import {
  type ReplicaMove,
  type ReplicaMoveOrder,
  type ReplicaPlaces,
  replicaMoveOf,
} from "../../../core/service/replica-moves.ts";
import type { JobNodes } from "../nodes/job-nodes.ts";
import type { JobReport } from "../report/job-report.ts";
import type { CloneNodes } from "./clone-nodes.ts";

export interface MovingReplicasOptions {
  /** By rank: how many processes play it; and by process who plays which. */
  readonly plan: readonly number[];
  readonly players: readonly ProcessName[];
  readonly placement: Placement;
  /** Nodes join and leave the job by themselves. */
  readonly isJoined: boolean;
  /** Could links between nodes stay as large as they are if processes were placed so? */
  areLinksAlike(placement: readonly number[]): boolean;
}

interface MovingReplicasParts {
  readonly core: Pick<Dispatcher, "state" | "isNodeAlive" | "outcome">;
  readonly nodes: Pick<JobNodes, "send" | "processOf" | "pids">;
  readonly cloneNodes: Pick<CloneNodes, "places" | "openFor">;
  readonly report: Pick<JobReport, "note" | "names" | "movedAlone">;
}

interface Order extends ReplicaMove {
  /** Those of which nothing has come yet. */
  readonly left: Set<number>;
  readonly moved: number[];
  /** The longest of them. */
  stoodMs: number;
}

export class MovingReplicas {
  readonly #options: MovingReplicasOptions;
  readonly #parts: MovingReplicasParts;
  #order: Order | null = null;
  readonly #moved: MovedReplica[] = [];
  /** Why the present one stays where it is. */
  why = "";

  constructor(options: MovingReplicasOptions, parts: MovingReplicasParts) {
    this.#options = options;
    this.#parts = parts;
  }

  get report(): readonly MovedReplica[] {
    return this.#moved;
  }

  /** Who goes, and where to; or the obstacle. `areLostComing`: clones of lost replicas are being made. */
  begin(order: ReplicaMoveOrder, areLostComing: boolean): ReplicaMove | string {
    const { placement, isJoined, areLinksAlike } = this.#options;
    if (isJoined) return "its nodes join and leave by themselves, and ranks have the places of those";
    if (this.#order !== null) return "replicas are being moved; try again when they are there";
    if (areLostComing) return "lost replicas are coming back; try again when they are there";
    const move = replicaMoveOf(this.#places, order);
    if (typeof move === "string") return move;
    const { processes, node } = move;
    if (!areLinksAlike(placement.map((each, process) => (processes.includes(process) ? node : each))))
      return `node ${node} would have more connections than there is memory for`;
    if (!this.#parts.cloneNodes.openFor(move)) return "the job ends";
    this.#order = { ...move, left: new Set(processes), moved: [], stoodMs: 0 };
    this.#tellBegin(move);
    return move;
  }

  get #places(): ReplicaPlaces {
    const { core, cloneNodes } = this.#parts;
    const { players, plan } = this.#options;
    const stateOf = (process: number): "running" | "done" | "dead" => {
      const { state } = core.state.ranks[process]!;
      return state === "running" || state === "done" ? state : "dead";
    };
    return { ...cloneNodes.places, players, plan, stateOf };
  }

  #tellBegin({ processes, node, spare }: ReplicaMove): void {
    const { report } = this.#parts;
    const where = spare === null ? "" : spare === 0 ? ", which is started" : `, spare ${spare}`;
    const [it, goes] = processes.length === 1 ? ["it", "runs"] : ["they", "run"];
    report.note(
      `${report.names.listed(processes)} will go on on node ${node}${where}: copied there while ${it} ${goes}`,
    );
  }

  /** Null: that process is not moved. */
  targetOf(process: number): number | null {
    return this.#order?.left.has(process) === true ? this.#order.node : null;
  }

  /** It has begun there, and everybody knows. */
  came(moved: MovedReplica, process: number): void {
    const order = this.#order;
    if (order === null || !order.left.delete(process)) return;
    this.#moved.push(moved);
    order.moved.push(process);
    order.stoodMs = Math.max(order.stoodMs, moved.pauseMs);
    this.#endIfAllDone(order);
  }

  /** It is not expected elsewhere any more: its life there, which was to be that one, will not begin. If it lives it goes on where it is. */
  stays(process: number, life: number): void {
    const { core, nodes, report } = this.#parts;
    const target = this.targetOf(process);
    const { state, incarnation } = core.state.ranks[process]!;
    if (target !== null && core.isNodeAlive(target))
      nodes.send(target, { kind: "release-rank", rank: process, incarnation });
    // `lost` will be told.
    if (state === "dead") return;
    nodes.send(this.#options.placement[process]!, { kind: "stay-rank", rank: process, incarnation: life });
    const order = this.#order;
    if (order === null || !order.left.delete(process)) return;
    report.note(
      `Cannot move ${report.names.nameOf(process)} to node ${order.node}: ${this.why}; it stays on node ${order.from}`,
    );
    this.why = "";
    this.#endIfAllDone(order);
  }

  /** It is dead, before or after it has begun elsewhere: it comes back as any other. */
  lost(process: number): void {
    const { report } = this.#parts;
    const order = this.#order;
    if (order === null || !order.left.delete(process)) return;
    report.note(`Cannot move ${report.names.nameOf(process)} to node ${order.node}: it was lost meanwhile`);
    this.why = "";
    this.#endIfAllDone(order);
  }

  #endIfAllDone({ left, moved, from, node, stoodMs }: Order): void {
    if (left.size > 0) return;
    this.#order = null;
    const { core, nodes, report } = this.#parts;
    const emptied = [from, node].filter((each) => core.isNodeAlive(each) && !this.#hasRanks(each));
    if (moved.length > 0) {
      const gone = emptied.includes(from) ? from : null;
      report.movedAlone({ ranks: moved.sort((a, b) => a - b), node, emptied: gone, stoodMs, pids: nodes.pids });
    }
    if (core.outcome !== undefined) return;
    for (const each of emptied) nodes.processOf(each).letGo();
  }

  /** Those that are lost come back there. */
  #hasRanks(node: number): boolean {
    return ranksOfNode(this.#parts.core.state.placement, node).length > 0;
  }
}
