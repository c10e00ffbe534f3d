import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { membersBySet, parseSets, setsByNode, setsByRank, setsFromLists } from "./sets.ts";

describe("L3: correlated sets (§3.2)", () => {
  it("follow the node map, or every rank is one", () => {
    deepEqual(setsByNode([0, 0, 1, 1, 2]), [0, 0, 1, 1, 2]);
    deepEqual(setsByNode([3, 3, 1]), [0, 0, 1]);
    deepEqual(setsByRank(3), [0, 1, 2]);
    deepEqual(membersBySet([0, 1, 0, 1]), [
      [0, 2],
      [1, 3],
    ]);
  });

  it("may be any partition, numbered by their lowest ranks", () => {
    deepEqual(setsFromLists([[3, 1], [0], [2]], 4), [0, 1, 2, 1]);
    deepEqual(parseSets("# two sets\n4-6, 1\n0 2\n", 8), [0, 1, 0, 2, 1, 1, 1, 3]);
  });

  it("a partition that is none is refused in one line", () => {
    equal(setsFromLists([[0, 1], [1]], 2), "rank 1 is in two sets");
    equal(setsFromLists([[0]], 2), "rank 1 is in no set");
    equal(parseSets("0 1\n7\n", 2), "rank 7: the job has ranks 0 to 1");
    equal(parseSets("0 x\n", 2), 'line 1: "x" is no rank; write 3 or 4-7');
    equal(parseSets("\n5-2\n", 2), 'line 2: "5-2" is no range of ranks');
  });
});
