/** Groups: MPI 5.0 §7.3. Their errors go to MPI_COMM_SELF's handler. */
import type { WorldRank } from "../../core/base/brand.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import type { Group, Range } from "../../core/comm/group.ts";
import { type CallTable, callsOf } from "../call-table.ts";
import { GROUP_EMPTY, type Program } from "../program.ts";

const GROUP_NULL = 0x108;

/** Writes the handle of a group; the empty one has a handle of its own, which programs compare with. */
export function putGroup(program: Program, group: Group, out: number): number {
  return program.putInt(out, group.size === 0 ? GROUP_EMPTY : program.groups.add(group));
}

type Combine = (a: Group, b: Group) => Group;
const combination = (combine: Combine) => (program: Program, a: number, b: number, out: number) =>
  putGroup(program, combine(program.groups.get(a), program.groups.get(b)), out);

type Choose = (group: Group, ranks: readonly number[]) => Group;
const choice = (choose: Choose) => (program: Program, handle: number, count: number, ranks: number, out: number) => {
  const group = program.groups.get(handle);
  return putGroup(program, choose(group, membersAt(program, group, ranks, count)), out);
};

type ChooseRanges = (group: Group, ranges: readonly Range[]) => Group;
const rangeChoice =
  (choose: ChooseRanges) => (program: Program, handle: number, count: number, ranges: number, out: number) => {
    const words = ranksAt(program, ranges, count < 0 ? count : 3 * count);
    const list = Array.from({ length: count }, (_, i): Range => [words[3 * i]!, words[3 * i + 1]!, words[3 * i + 2]!]);
    return putGroup(program, choose(program.groups.get(handle), list), out);
  };

function ranksAt(program: Program, address: number, count: number): number[] {
  if (count < 0) throw new MpiError(ErrorClass.ARG, `Cannot use ${count} ranks: counts are whole numbers from 0`);
  return program.list(address, count);
}

/** More ranks than there are members repeat one: they need not be read to know that. */
function membersAt(program: Program, group: Group, address: number, count: number): number[] {
  if (count <= group.size) return ranksAt(program, address, count);
  throw new MpiError(ErrorClass.RANK, `Cannot choose ${count} ranks: the group has ${group.size}, each counts once`);
}

const table: CallTable = {
  MPI_Group_size: (program, handle: number, out: number) => program.putInt(out, program.groups.get(handle).size),
  MPI_Group_rank: (program, handle: number, out: number) =>
    program.putInt(out, program.groups.get(handle).rankOf(program.process.rank as WorldRank)),
  MPI_Group_translate_ranks(program, handle: number, count: number, ranks: number, other: number, out: number) {
    program.putList(
      out,
      program.groups.get(handle).translate(ranksAt(program, ranks, count), program.groups.get(other)),
    );
    return 0;
  },
  MPI_Group_compare: (program, a: number, b: number, out: number) =>
    program.putInt(out, program.groups.get(a).compare(program.groups.get(b))),
  MPI_Group_union: combination((a, b) => a.union(b)),
  MPI_Group_intersection: combination((a, b) => a.intersection(b)),
  MPI_Group_difference: combination((a, b) => a.difference(b)),
  MPI_Group_incl: choice((group, ranks) => group.incl(ranks)),
  MPI_Group_excl: choice((group, ranks) => group.excl(ranks)),
  MPI_Group_range_incl: rangeChoice((group, ranges) => group.rangeIncl(ranges)),
  MPI_Group_range_excl: rangeChoice((group, ranges) => group.rangeExcl(ranges)),
  MPI_Group_free(program, handleAt: number) {
    const handle = program.ints[handleAt >> 2]!;
    program.groups.get(handle);
    // What a constructor gives may be MPI_GROUP_EMPTY, so that one can be freed too.
    if (handle !== GROUP_EMPTY) program.groups.remove(handle);
    return program.putInt(handleAt, GROUP_NULL);
  },
};

export const groupCalls = (program: Program) => callsOf(program, table);
