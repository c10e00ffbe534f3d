/**
 * `banyan move`: ranks of a job go on elsewhere because somebody wants it, not because they are lost. Where the lost come back as clones a replica is moved alone, copied while it runs
 * (ADR 79). Where they begin again from checkpoints a rank is moved with those that cannot be without it (ADR 73). Where they do neither the whole job goes on in other places (ADR 63).
 */
import { setMoveOf } from "../../../core/service/moved-sets.ts";
import type { Placement } from "../../../core/service/placement.ts";
import { producersMax } from "../../transport/layout.ts";
import type { JobClones } from "../clones/job-clones.ts";
import type { JobRecovery } from "./job-recovery.ts";
import type { JobRelocation } from "./job-relocation.ts";

/** The ranks of a node; or a rank, perhaps with those beside it. */
export type Moved =
  | { readonly kind: "node"; readonly node: number }
  /** `replica`: null, any. `from`: the one on that node; null, and unless given, any. */
  | { readonly kind: "rank"; readonly rank: number; readonly replica: number | null; readonly from?: number | null };

export interface MoveOrder {
  readonly moved: Moved;
  /** Where to: any node, those in reserve are counted behind those that the job began with. Null: any. */
  readonly onto: number | null;
}

interface JobMovesOptions {
  readonly nodes: number;
  /** Those that the job began with. */
  readonly ranks: number;
  /** By process: its node. */
  readonly placement: Placement;
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
  readonly clones: Pick<JobClones, "move"> | null;
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
    if (clones !== null) return clones.move({ moved, onto });
    const obstacle = this.#obstacleTo(moved);
    if (obstacle !== "") return obstacle;
    if (relocation !== null) return relocation.begin({ moved, onto });
    return recovery === null ? "" : this.#moveSets(recovery, { moved, onto });
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

  /** Empty: there is none. */
  #obstacleTo(moved: Moved): string {
    const { nodes, ranks, placement } = this.#options;
    if (moved.kind === "node") return moved.node < nodes ? "" : `the job has ${upTo("node", nodes)}`;
    const { rank, replica, from = null } = moved;
    if (rank >= ranks) return `the job has ${upTo("rank", ranks)}`;
    if (replica !== null && replica !== 0) return `rank ${rank} has no replicas`;
    return from === null || placement[rank] === from ? "" : `rank ${rank} is not on node ${from}`;
  }
}

const upTo = (what: string, count: number): string => (count === 1 ? `${what} 0 alone` : `${what}s 0 to ${count - 1}`);
