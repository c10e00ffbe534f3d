/**
 * An ordered set of world ranks, never changed once made (MPI 5.0 §7.3).
 *
 * The group of the whole job, and every other group 0 … n−1, is only a number: no table, no look-up. A large one of few
 * runs of consecutive world ranks, ascending (the survivors of a large job), holds these runs. Any other group holds its
 * members, and builds the inverse (world rank → rank) at the first question.
 */
import type { CommRank, WorldRank } from "../base/brand.ts";
import { IDENT, PROC_NULL, SIMILAR, UNDEFINED, UNEQUAL } from "../base/constants.ts";
import { ErrorClass, MpiError } from "../base/mpi-error.ts";
import { saves } from "../base/saved-classes.ts";

/** First rank, last rank, stride: as MPI_Group_range_incl takes them. */
export type Range = readonly [first: number, last: number, stride: number];

export class Group {
  static readonly unsaved = { ranks: null };
  static readonly empty = new Group(0, null);

  readonly size: number;
  /** World rank of each member; null when there are runs, or member i is world rank i. */
  private readonly members: Int32Array | null;
  /** First rank and first world rank of each run, both ascending; null when the members are not such runs. */
  private readonly runs: Int32Array | null;
  private ranks: Int32Array | Map<number, number> | null = null;

  private constructor(size: number, members: Int32Array | null, runs: Int32Array | null = null) {
    this.size = size;
    this.members = members;
    this.runs = runs;
  }

  /** World ranks 0 … size−1 in order. */
  static world(size: number): Group {
    return size === 0 ? Group.empty : new Group(size, null);
  }

  /** A group of these members in order. The caller passes world ranks, each once: nothing is checked. */
  static of(members: ArrayLike<number>): Group {
    let isIdentity = true;
    for (let i = 0; i < members.length && isIdentity; i++) isIdentity = members[i] === i;
    if (isIdentity) return Group.world(members.length);
    const runs = members.length < membersMin ? null : runsOf(members);
    if (runs === null) return new Group(members.length, Int32Array.from(members));
    return new Group(members.length, null, Int32Array.from(runs));
  }

  /** UNDEFINED for a world rank that is no member. */
  rankOf(world: WorldRank): CommRank {
    if (this.runs !== null) return rankInRuns(this.runs, this.size, world) as CommRank;
    if (this.members === null) return (world >= 0 && world < this.size ? world : UNDEFINED) as number as CommRank;
    this.ranks ??= wayBack(this.members);
    const rank = this.ranks instanceof Map ? this.ranks.get(world) : this.ranks[world];
    return (rank ?? UNDEFINED) as CommRank;
  }

  worldRank(rank: CommRank): WorldRank {
    if (!(rank >= 0 && rank < this.size)) throw noSuchRank(`find rank ${rank}`, this.size);
    if (this.members !== null) return this.members[rank] as WorldRank;
    return (this.runs === null ? rank : worldInRuns(this.runs, rank)) as number as WorldRank;
  }

  /** A copy of the members, in order. */
  worldRanks(): WorldRank[] {
    return Array.from({ length: this.size }, (_, rank) => this.worldRank(rank as CommRank));
  }

  private get isIdentity(): boolean {
    return this.members === null && this.runs === null;
  }

  has(world: WorldRank): boolean {
    return this.rankOf(world) !== UNDEFINED;
  }

  compare(other: Group): typeof IDENT | typeof SIMILAR | typeof UNEQUAL {
    if (this.size !== other.size) return UNEQUAL;
    if (this.isIdentity && other.isIdentity) return IDENT;
    let sameOrder = true;
    for (let i = 0; i < this.size; i++) {
      const world = this.worldRank(i as CommRank);
      if (!other.has(world)) return UNEQUAL;
      sameOrder &&= other.worldRank(i as CommRank) === world;
    }
    return sameOrder ? IDENT : SIMILAR;
  }

  /** The ranks that the same processes have in `other`; UNDEFINED for those it lacks, PROC_NULL stays. */
  translate(ranks: readonly number[], other: Group): number[] {
    return ranks.map((rank) => {
      if (rank === PROC_NULL) return PROC_NULL;
      if (!(rank >= 0 && rank < this.size)) throw noSuchRank(`translate rank ${rank}`, this.size);
      return other.rankOf(this.worldRank(rank as CommRank));
    });
  }

  /** The members of this group, then those of `other` that this group lacks, in the order of `other`. */
  union(other: Group): Group {
    return Group.of([...this.worldRanks(), ...other.worldRanks().filter((world) => !this.has(world))]);
  }

  /** The members of this group that `other` has too, in the order of this group. */
  intersection(other: Group): Group {
    return Group.of(this.worldRanks().filter((world) => other.has(world)));
  }

  /** The members of this group that `other` lacks, in the order of this group. */
  difference(other: Group): Group {
    return Group.of(this.worldRanks().filter((world) => !other.has(world)));
  }

  /** The members with those ranks, in the order given. */
  incl(ranks: readonly number[]): Group {
    this.check("include", ranks);
    return Group.of(ranks.map((rank) => this.worldRank(rank as CommRank)));
  }

  /** The members without those ranks, in the order of this group. */
  excl(ranks: readonly number[]): Group {
    this.check("exclude", ranks);
    const out = new Set(ranks);
    return Group.of(this.worldRanks().filter((_, rank) => !out.has(rank)));
  }

  rangeIncl(ranges: readonly Range[]): Group {
    return this.incl(ranges.flatMap((range) => this.expand("include", range)));
  }

  rangeExcl(ranges: readonly Range[]): Group {
    return this.excl(ranges.flatMap((range) => this.expand("exclude", range)));
  }

  /** Checks the ends of a range before listing its ranks: an absurd range must not fill the memory. */
  private expand(verb: string, [first, last, stride]: Range): number[] {
    if (stride === 0) {
      throw new MpiError(ErrorClass.ARG, `Cannot ${verb} ranks ${first} to ${last}: the stride is 0 and must not be`);
    }
    const steps = Math.floor((last - first) / stride);
    if (steps < 0) return [];
    this.check(verb, steps === 0 ? [first] : [first, first + steps * stride]);
    return Array.from({ length: steps + 1 }, (_, i) => first + i * stride);
  }

  private check(verb: string, ranks: readonly number[]): void {
    const seen = new Set<number>();
    for (const rank of ranks) {
      if (!(rank >= 0 && rank < this.size)) throw noSuchRank(`${verb} rank ${rank}`, this.size);
      if (seen.has(rank)) {
        throw new MpiError(ErrorClass.RANK, `Cannot ${verb} rank ${rank}: it is listed twice and may be listed once`);
      }
      seen.add(rank);
    }
  }
}

/** A smaller group has a table, which is faster. */
const membersMin = 1024;
/** So many members for each run at least. */
const membersOfRunMin = 8;

/** Runs of the members, see `Group.runs`; null: they do not ascend, or there are too many. */
function runsOf(members: ArrayLike<number>): number[] | null {
  const runs: number[] = [];
  for (let rank = 0; rank < members.length; rank++) {
    if (rank > 0 && members[rank] === members[rank - 1]! + 1) continue;
    if (rank > 0 && members[rank]! <= members[rank - 1]!) return null;
    runs.push(rank, members[rank]!);
    if ((runs.length / 2) * membersOfRunMin > members.length) return null;
  }
  return runs;
}

/** The last run whose word (0: first rank, 1: first world rank) is not above `value`; −1: all are. As an offset. */
function lastRun(runs: Int32Array, word: 0 | 1, value: number): number {
  let low = -1;
  let high = runs.length / 2 - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (runs[2 * middle + word]! <= value) low = middle;
    else high = middle - 1;
  }
  return 2 * low;
}

function worldInRuns(runs: Int32Array, rank: number): number {
  const run = lastRun(runs, 0, rank);
  return runs[run + 1]! + rank - runs[run]!;
}

function rankInRuns(runs: Int32Array, size: number, world: number): number {
  const run = lastRun(runs, 1, world);
  if (run < 0) return UNDEFINED;
  const rank = runs[run]! + world - runs[run + 1]!;
  return rank < (runs[run + 2] ?? size) ? rank : UNDEFINED;
}

/** World rank → rank: a table where the members lie close together, a map where they are few among many. */
function wayBack(members: Int32Array): Int32Array | Map<number, number> {
  let highest = 0;
  for (const world of members) highest = Math.max(highest, world);
  if (highest >= 4 * members.length + 1024) return new Map(Array.from(members, (world, rank) => [world, rank]));
  const ranks = new Int32Array(highest + 1).fill(UNDEFINED);
  for (let rank = 0; rank < members.length; rank++) ranks[members[rank]!] = rank;
  return ranks;
}

function noSuchRank(what: string, size: number): MpiError {
  const state = size === 0 ? "the group is empty" : `the group has ranks 0 to ${size - 1}`;
  return new MpiError(ErrorClass.RANK, `Cannot ${what}: ${state}`);
}

saves({ Group });
