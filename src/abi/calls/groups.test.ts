import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { IDENT, PROC_NULL, SIMILAR, UNDEFINED, UNEQUAL } from "../../core/base/constants.ts";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import type { TestProgram } from "../testing/program.ts";
import { ERRORS_RETURN, SELF, TestRanks, WORLD } from "../testing/ranks.ts";

const GROUP_NULL = 0x108;
const GROUP_EMPTY = 0x109;

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** Rank 2 of six, with the world's group. */
function groupProgram() {
  const c = new TestRanks(6).programs[2] as TestProgram;
  c.call("MPI_Comm_set_errhandler", SELF, ERRORS_RETURN);
  const all = c.get("MPI_Comm_group", WORLD);
  const members = (group: number): number[] => {
    const size = c.get("MPI_Group_size", group);
    const [from, to] = [c.ints(...range(size)), c.alloc(4 * size)];
    c.call("MPI_Group_translate_ranks", group, size, from, all, to);
    return c.list(to, size);
  };
  const incl = (...ranks: number[]): number => c.get("MPI_Group_incl", all, ranks.length, c.ints(...ranks));
  return { c, all, members, incl };
}

describe("groups", () => {
  it("incl, excl, ranges, set operations", () => {
    const { c, all, members, incl } = groupProgram();
    deepEqual(members(all), range(6));
    deepEqual(members(incl(4, 2)), [4, 2]);
    deepEqual(members(c.get("MPI_Group_excl", all, 2, c.ints(0, 3))), [1, 2, 4, 5]);
    deepEqual(members(c.get("MPI_Group_range_incl", all, 2, c.ints(5, 3, -2, 0, 1, 1))), [5, 3, 0, 1]);
    deepEqual(members(c.get("MPI_Group_range_excl", all, 1, c.ints(1, 5, 2))), [0, 2, 4]);
    const [a, b] = [incl(4, 2, 0), incl(1, 2)];
    deepEqual(members(c.get("MPI_Group_union", a, b)), [4, 2, 0, 1]);
    deepEqual(members(c.get("MPI_Group_intersection", a, b)), [2]);
    deepEqual(members(c.get("MPI_Group_difference", a, b)), [4, 0]);
    equal(c.get("MPI_Group_compare", a, incl(4, 2, 0)), IDENT);
    equal(c.get("MPI_Group_compare", a, incl(0, 2, 4)), SIMILAR);
    equal(c.get("MPI_Group_compare", a, b), UNEQUAL);
    equal(c.get("MPI_Group_rank", a), 1);
    equal(c.get("MPI_Group_rank", incl(5)), UNDEFINED);
    const out = c.alloc(12);
    c.call("MPI_Group_translate_ranks", a, 3, c.ints(1, PROC_NULL, 0), b, out);
    deepEqual(c.list(out, 3), [1, PROC_NULL, UNDEFINED]);
  });

  it("an empty one is MPI_GROUP_EMPTY, which can be freed as often as it is given", () => {
    const { c, all, incl } = groupProgram();
    equal(incl(), GROUP_EMPTY);
    equal(c.get("MPI_Group_difference", all, all), GROUP_EMPTY);
    for (const group of [GROUP_EMPTY, GROUP_EMPTY, incl(1)]) {
      const at = c.ints(group);
      equal(c.call("MPI_Group_free", at), 0);
      equal(c.int(at), GROUP_NULL);
    }
    equal(c.get("MPI_Group_size", GROUP_EMPTY), 0);
  });

  it("refuses ranks that are none or listed twice, strides of 0, counts below 0, handles that are none", () => {
    const { c, all } = groupProgram();
    const out = c.alloc(4);
    equal(c.call("MPI_Group_incl", all, 1, c.ints(6), out), ErrorClass.RANK);
    equal(c.call("MPI_Group_excl", all, 2, c.ints(1, 1), out), ErrorClass.RANK);
    equal(c.call("MPI_Group_range_incl", all, 1, c.ints(0, 5, 0), out), ErrorClass.ARG);
    equal(c.call("MPI_Group_incl", all, -1, 0, out), ErrorClass.ARG);
    for (const none of [GROUP_NULL, WORLD, 0]) equal(c.call("MPI_Group_size", none, out), ErrorClass.GROUP);
    const at = c.ints(all);
    equal(c.call("MPI_Group_free", at), 0);
    equal(c.call("MPI_Group_size", all, out), ErrorClass.GROUP);
    equal(c.call("MPI_Group_free", at), ErrorClass.GROUP);
  });
});
