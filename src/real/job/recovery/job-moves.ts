/**
 * `banyan move`: ranks of a job go on elsewhere because somebody wants it, not because they are lost. Where they come back as clones what moves is a node, with all its ranks: places of
 * processes do not change then, another process takes the place of the node (ADR 50), and a rank is moved with its node. Where they begin again from checkpoints a rank is moved with its
 * correlated set (ADR 73). Where they do neither the whole job goes on in other places (ADR 63), and a rank is moved alone.
 */
import { setMoveOf } from "../../../core/service/moved-sets.ts";
import type { Placement } from "../../../core/service/placement.ts";
import { producersMax } from "../../transport/layout.ts";
import type { JobClones } from "./job-clones.ts";
import type { JobRecovery } from "./job-recovery.ts";
import type { JobRelocation } from "./job-relocation.ts";

/** The ranks of a node; or a rank, perhaps with those beside it. */
export type Moved =
  | { readonly kind: "node"; readonly node: number }
  /** `replica`: null, any. */
  | { readonly kind: "rank"; readonly rank: number; readonly replica: number | null };

export interface MoveOrder {
  readonly moved: Moved;
  /** Where to: a node in reserve, which are counted behind those of the job; or, where all of the job goes on elsewhere, any. Null: any. */
  readonly onto: number | null;
}

interface JobMovesOptions {
  readonly nodes: number;
  /** Those that the job began with. */
  readonly ranks: number;
  /** By process: its node. */
  readonly placement: Placement;
  readonly spares: number;
  /** Where the lost begin again: set of each rank. */
  readonly setOf: readonly number[] | null;
  /** Can a rank become a set of its own? */
  readonly canSplit: boolean;
  /** Nodes join and leave the job by themselves. */
  readonly isJoined: boolean;
  /** Could links between nodes stay as large as they are if processes were placed so? */
  areLinksAlike(placement: readonly number[]): boolean;
}

interface JobMovesParts {
  readonly core: { readonly outcome: unknown };
  /** Null: lost ranks do not come back as clones; do not begin again. */
  readonly clones: Pick<JobClones, "drain" | "nodeOf"> | null;
  readonly recovery: Pick<JobRecovery, "drain" | "move"> | null;
  /** Instead of both. */
  readonly relocation: Pick<JobRelocation, "begin"> | null;
}

export class JobMoves {
  readonly #options: JobMovesOptions;
  readonly #parts: JobMovesParts;

  constructor(options: JobMovesOptions, parts: JobMovesParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** Returns the obstacle; empty: it is done. */
  move({ moved, onto }: MoveOrder): string {
    const { core, clones, recovery, relocation } = this.#parts;
    if (core.outcome !== undefined) return "the job ends";
    const node = this.#nodeOf(moved);
    if (typeof node === "string") return node;
    if (relocation !== null) return relocation.begin({ moved, onto });
    if (recovery !== null) return this.#moveSets(recovery, { moved, onto });
    const spare = this.#spareOf(onto);
    if (typeof spare === "string") return spare;
    return clones?.drain(node, spare) ?? "";
  }

  #moveSets(recovery: Pick<JobRecovery, "drain" | "move">, order: MoveOrder): string {
    const { nodes, placement, setOf, canSplit, isJoined, areLinksAlike } = this.#options;
    const places = { setOf: setOf ?? [], placement, nodes, canSplit };
    const found = setMoveOf(places, { ...order, ofNodeMax: producersMax });
    if (typeof found === "string") return found;
    const { ranks, from, node } = found;
    if (node === from) return recovery.drain(from);
    if (isJoined) return "its nodes join and leave by themselves, and ranks have the places of those";
    if (!areLinksAlike(placement.map((each, rank) => (ranks.includes(rank) ? node : each))))
      return `node ${node} would have more connections than there is memory for`;
    return recovery.move(found);
  }

  #nodeOf(moved: Moved): number | string {
    const { nodes, ranks, placement } = this.#options;
    const { clones } = this.#parts;
    if (moved.kind === "node") return moved.node < nodes ? moved.node : `the job has ${upTo("node", nodes)}`;
    const { rank, replica } = moved;
    if (rank >= ranks) return `the job has ${upTo("rank", ranks)}`;
    if (clones !== null) return clones.nodeOf(rank, replica);
    return replica === null || replica === 0 ? placement[rank]! : `rank ${rank} has no replicas`;
  }

  /** The number of a spare. */
  #spareOf(onto: number | null): number | null | string {
    const { nodes, spares } = this.#options;
    if (onto === null) return null;
    if (onto >= nodes && onto < nodes + spares) return onto - nodes + 1;
    const reserve = spares === 0 ? "none" : spares === 1 ? `node ${nodes}` : `nodes ${nodes} to ${nodes + spares - 1}`;
    return onto < nodes
      ? `node ${onto} has a place of its own; only a node in reserve takes another's: ${reserve}`
      : `nodes in reserve: ${reserve}`;
  }
}

const upTo = (what: string, count: number): string => (count === 1 ? `${what} 0 alone` : `${what}s 0 to ${count - 1}`);
