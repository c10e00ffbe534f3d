/** Ranks to look after: each once, and again only if it is noted again. */
import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { NotedRanks } from "./noted-ranks.ts";

describe("noted ranks", () => {
  it("are visited once, in their order", () => {
    const noted = new NotedRanks();
    for (const rank of [5, 2, 5, 9, 2]) noted.add(rank);
    const visited: number[] = [];
    noted.visit((rank) => visited.push(rank));
    deepEqual(visited, [5, 2, 9]);
    equal(noted.isEmpty, true);
  });

  it("one that is noted after its visit is for the next time, one that is noted before it is visited once", () => {
    const noted = new NotedRanks();
    noted.add(1);
    noted.add(2);
    const visited: number[] = [];
    noted.visit((rank) => {
      visited.push(rank);
      noted.add(1);
      noted.add(2);
      if (rank === 2) noted.visit((inner) => visited.push(10 * inner));
    });
    deepEqual(visited, [1, 2, 10, 20]);
    equal(noted.isEmpty, true);
  });
});
