/** An ordered set of processes (MPI 5.0 §7.3). Never changed once made; `free` is there for programs that are used to it. */
import type { WorldRank } from "../core/base/brand.ts";
import { Group as CoreGroup, type Range } from "../core/comm/group.ts";
import type { Environment } from "./environment.ts";

export type { Range } from "../core/comm/group.ts";

export class Group {
  readonly #environment: Environment;
  readonly core: CoreGroup;

  constructor(environment: Environment, core: CoreGroup) {
    this.#environment = environment;
    this.core = core;
  }

  get size(): number {
    return this.core.size;
  }

  /** Rank of this process in the group, UNDEFINED when it is no member. */
  get rank(): number {
    return this.core.rankOf(this.#environment.host.process.rank as WorldRank);
  }

  /** Ranks in the world of the members, in order. */
  get worldRanks(): number[] {
    return this.core.worldRanks();
  }

  /** IDENT, SIMILAR (the same members in another order) or UNEQUAL. */
  compare(other: Group): number {
    return this.core.compare(other.core);
  }

  /** The ranks that the same processes have in `other`: UNDEFINED for those it lacks. */
  translate(ranks: readonly number[], other: Group): number[] {
    return this.#environment.guard(() => this.core.translate(ranks, other.core));
  }

  union(other: Group): Group {
    return this.#make(() => this.core.union(other.core));
  }

  intersection(other: Group): Group {
    return this.#make(() => this.core.intersection(other.core));
  }

  difference(other: Group): Group {
    return this.#make(() => this.core.difference(other.core));
  }

  /** Those ranks, in the order given. */
  incl(ranks: readonly number[]): Group {
    return this.#make(() => this.core.incl(ranks));
  }

  /** All but those ranks. */
  excl(ranks: readonly number[]): Group {
    return this.#make(() => this.core.excl(ranks));
  }

  /** Ranges are [first, last, stride]. */
  rangeIncl(ranges: readonly Range[]): Group {
    return this.#make(() => this.core.rangeIncl(ranges));
  }

  rangeExcl(ranges: readonly Range[]): Group {
    return this.#make(() => this.core.rangeExcl(ranges));
  }

  free(): void {}

  static empty(environment: Environment): Group {
    return new Group(environment, CoreGroup.empty);
  }

  #make(call: () => CoreGroup): Group {
    return new Group(this.#environment, this.#environment.guard(call));
  }
}
