import assert from "node:assert/strict";
import { test } from "node:test";
import type { CommRank, WorldRank } from "../base/brand.ts";
import { IDENT, PROC_NULL, SIMILAR, UNDEFINED, UNEQUAL } from "../base/constants.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import fc from "../base/testing/properties.ts";
import { Group } from "./group.ts";

const members = fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 12 });
const groups = members.map((list) => Group.of(list));
const list = (group: Group): number[] => group.worldRanks();

test("M4 §7.3.1 a group finds ranks both ways, in a table, a map, or by itself", () => {
  const far = [5, 1_000_000, 3];
  for (const ranks of [[0, 1, 2, 3], [3, 1, 2], far]) {
    const group = Group.of(ranks);
    assert.equal(group.size, ranks.length);
    ranks.forEach((world, rank) => {
      assert.equal(group.rankOf(world as WorldRank), rank);
      assert.equal(group.worldRank(rank as CommRank), world);
    });
    assert.equal(group.rankOf(77 as WorldRank), UNDEFINED);
    assert.equal(group.rankOf(-1 as WorldRank), UNDEFINED);
  }
  assert.throws(() => Group.world(8).worldRank(9 as CommRank), {
    code: ErrorClass.RANK,
    message: "Cannot find rank 9: the group has ranks 0 to 7",
  });
});

test("M4 §7.3.1 a large group of few runs is as one with a table", () => {
  const size = 1200;
  const all = Array.from({ length: size }, (_, world) => world);
  const holes = fc.uniqueArray(fc.integer({ min: 0, max: size - 1 }), { maxLength: 160 });
  fc.assert(
    fc.property(holes, (missing) => {
      const survivors = all.filter((world) => !missing.includes(world));
      const group = Group.of(survivors);
      assert.deepEqual(group.worldRanks(), survivors);
      for (let world = -1; world <= size; world++) {
        assert.equal(
          group.rankOf(world as WorldRank),
          survivors.includes(world) ? survivors.indexOf(world) : UNDEFINED,
        );
      }
      assert.equal(group.compare(Group.of([...survivors].reverse())), SIMILAR);
      assert.equal(group.compare(Group.world(size)), missing.length === 0 ? IDENT : UNEQUAL);
      assert.equal(group.compare(Group.of(survivors)), IDENT);
    }),
    { numRuns: 50 },
  );
});

test("M4 §7.3.1 Group_compare and Group_translate_ranks", () => {
  const world = Group.world(4);
  assert.equal(world.compare(Group.of([0, 1, 2, 3])), IDENT);
  assert.equal(world.compare(Group.of([3, 1, 2, 0])), SIMILAR);
  assert.equal(world.compare(Group.of([0, 1, 2, 4])), UNEQUAL);
  assert.equal(world.compare(Group.world(3)), UNEQUAL);
  assert.equal(Group.empty.compare(Group.of([])), IDENT);
  assert.deepEqual(world.translate([3, 0, PROC_NULL, 1], Group.of([1, 3])), [1, UNDEFINED, PROC_NULL, 0]);
  assert.throws(() => world.translate([4], world), { code: ErrorClass.RANK });
});

test("M4 §7.3.2 Group_union, _intersection, _difference keep the order the standard gives", () => {
  fc.assert(
    fc.property(members, members, (a, b) => {
      const [left, right] = [Group.of(a), Group.of(b)];
      assert.deepEqual(list(left.union(right)), [...a, ...b.filter((rank) => !a.includes(rank))]);
      assert.deepEqual(
        list(left.intersection(right)),
        a.filter((rank) => b.includes(rank)),
      );
      assert.deepEqual(
        list(left.difference(right)),
        a.filter((rank) => !b.includes(rank)),
      );
    }),
  );
});

test("M4 §7.3.2 the laws of sets hold, up to order", () => {
  const same = (a: Group, b: Group): void => assert.notEqual(a.compare(b), UNEQUAL);
  fc.assert(
    fc.property(groups, groups, groups, (a, b, c) => {
      same(a.union(b), b.union(a));
      same(a.intersection(b), b.intersection(a));
      same(a.union(b.intersection(c)), a.union(b).intersection(a.union(c)));
      same(a.difference(b).union(a.intersection(b)), a);
      assert.equal(a.difference(b).intersection(b).size, 0);
      assert.equal(a.union(Group.empty).compare(a), IDENT);
    }),
  );
});

test("M4 §7.3.2 Group_incl and Group_excl", () => {
  const group = Group.of([10, 11, 12, 13]);
  assert.deepEqual(list(group.incl([3, 0])), [13, 10]);
  assert.deepEqual(list(group.excl([3, 0])), [11, 12]);
  assert.equal(group.incl([]), Group.empty);
  assert.throws(() => group.incl([0, 4]), { code: ErrorClass.RANK });
  assert.throws(() => group.excl([1, 1]), { code: ErrorClass.RANK });
});

test("M4 §7.3.2 Group_range_incl, the standard's ranges, and Group_range_excl as their complement", () => {
  const group = Group.of(Array.from({ length: 20 }, (_, rank) => 100 + rank));
  const ranges = [
    [6, 7, 1],
    [1, 6, 2],
    [9, 4, -4],
  ] as const;
  const ranks = [6, 7, 1, 3, 5, 9];
  assert.throws(() => group.rangeIncl([...ranges, [5, 5, 1]]), { code: ErrorClass.RANK });
  assert.deepEqual(
    list(group.rangeIncl(ranges.slice(0, 2))),
    ranks.slice(0, 5).map((rank) => 100 + rank),
  );
  assert.deepEqual(list(group.rangeExcl(ranges.slice(0, 2))), list(group.excl(ranks.slice(0, 5))));
  assert.deepEqual(list(group.rangeIncl([[5, 4, 1]])), []);
  assert.deepEqual(list(group.rangeIncl([[2, 0, -1]])), [102, 101, 100]);
  assert.throws(() => group.rangeIncl([[0, 3, 0]]), { code: ErrorClass.ARG });
  assert.throws(() => group.rangeIncl([[0, 2 ** 31, 1]]), { code: ErrorClass.RANK });
});
