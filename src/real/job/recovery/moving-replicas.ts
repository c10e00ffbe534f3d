/**
 * Replicas that go on on another node because somebody wants it (`banyan move`, ADR 79), as the dispatcher sees them: one order at a time, its replicas one after the other. What each step
 * is, and who is told, is the business of `JobClones`; here is where they go, what has come of it, and which nodes are empty afterwards.
 */
import type { MovedReplica } from "../../../core/ft/clones.ts";
import type { Dispatcher } from "../../../core/service/dispatcher.ts";
import { ranksOfNode } from "../../../core/service/placement.ts";
import type { ReplicaMove } from "../../../core/service/replica-moves.ts";
import type { JobNodes } from "../nodes/job-nodes.ts";
import type { JobReport } from "../report/job-report.ts";

interface MovingReplicasParts {
  readonly core: Pick<Dispatcher, "state" | "isNodeAlive" | "outcome">;
  readonly nodes: Pick<JobNodes, "processOf" | "pids">;
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
  readonly #parts: MovingReplicasParts;
  #order: Order | null = null;
  readonly #moved: MovedReplica[] = [];
  /** Why the present one stays where it is. */
  why = "";

  constructor(parts: MovingReplicasParts) {
    this.#parts = parts;
  }

  get isUnderWay(): boolean {
    return this.#order !== null;
  }

  get report(): readonly MovedReplica[] {
    return this.#moved;
  }

  /** There must be none under way. */
  begin(move: ReplicaMove): void {
    const { processes, node, spare } = move;
    const { report } = this.#parts;
    this.#order = { ...move, left: new Set(processes), moved: [], stoodMs: 0 };
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

  /** It goes on where it is. */
  stays(process: number): void {
    const { report } = this.#parts;
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
