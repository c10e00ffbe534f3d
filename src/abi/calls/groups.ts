/** Groups: MPI 5.0 §7.3. Their errors go to MPI_COMM_SELF's handler. */
import type { WorldRank } from "../../core/base/brand.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import type { Group, Range } from "../../core/comm/group.ts";
import { GROUP_EMPTY, type Program } from "../program.ts";

const GROUP_NULL = 0x108;

/** Writes the handle of a group; the empty one has a handle of its own, which programs compare with. */
export function putGroup(program: Program, group: Group, out: number): number {
  program.ints[out >> 2] = group.size === 0 ? GROUP_EMPTY : program.groups.add(group);
  return 0;
}

export function groupCalls(program: Program) {
  const { groups, ints, process } = program;

  type Combine = (a: Group, b: Group) => Group;
  const combination = (combine: Combine) => (a: number, b: number, out: number) =>
    putGroup(program, combine(groups.get(a), groups.get(b)), out);

  type Choose = (group: Group, ranks: readonly number[]) => Group;
  const choice = (choose: Choose) => (handle: number, count: number, ranks: number, out: number) =>
    putGroup(program, choose(groups.get(handle), membersAt(groups.get(handle), ranks, count)), out);

  type ChooseRanges = (group: Group, ranges: readonly Range[]) => Group;
  const rangeChoice = (choose: ChooseRanges) => (handle: number, count: number, ranges: number, out: number) => {
    const words = ranksAt(ranges, count < 0 ? count : 3 * count);
    const list = Array.from({ length: count }, (_, i): Range => [words[3 * i]!, words[3 * i + 1]!, words[3 * i + 2]!]);
    return putGroup(program, choose(groups.get(handle), list), out);
  };

  function ranksAt(address: number, count: number): number[] {
    if (count < 0) throw new MpiError(ErrorClass.ARG, `Cannot use ${count} ranks: counts are whole numbers from 0`);
    return program.list(address, count);
  }

  /** More ranks than there are members repeat one: they need not be read to know that. */
  function membersAt(group: Group, address: number, count: number): number[] {
    if (count <= group.size) return ranksAt(address, count);
    throw new MpiError(ErrorClass.RANK, `Cannot choose ${count} ranks: the group has ${group.size}, each counts once`);
  }

  return {
    MPI_Group_size(handle: number, out: number): number {
      ints[out >> 2] = groups.get(handle).size;
      return 0;
    },
    MPI_Group_rank(handle: number, out: number): number {
      ints[out >> 2] = groups.get(handle).rankOf(process.rank as WorldRank);
      return 0;
    },
    MPI_Group_translate_ranks(handle: number, count: number, ranks: number, other: number, out: number): number {
      program.putList(out, groups.get(handle).translate(ranksAt(ranks, count), groups.get(other)));
      return 0;
    },
    MPI_Group_compare(a: number, b: number, out: number): number {
      ints[out >> 2] = groups.get(a).compare(groups.get(b));
      return 0;
    },
    MPI_Group_union: combination((a, b) => a.union(b)),
    MPI_Group_intersection: combination((a, b) => a.intersection(b)),
    MPI_Group_difference: combination((a, b) => a.difference(b)),
    MPI_Group_incl: choice((group, ranks) => group.incl(ranks)),
    MPI_Group_excl: choice((group, ranks) => group.excl(ranks)),
    MPI_Group_range_incl: rangeChoice((group, ranges) => group.rangeIncl(ranges)),
    MPI_Group_range_excl: rangeChoice((group, ranges) => group.rangeExcl(ranges)),
    MPI_Group_free(handleAt: number): number {
      const handle = ints[handleAt >> 2]!;
      groups.get(handle);
      // What a constructor gives may be MPI_GROUP_EMPTY, so that one can be freed too.
      if (handle !== GROUP_EMPTY) groups.remove(handle);
      ints[handleAt >> 2] = GROUP_NULL;
      return 0;
    },
  };
}
