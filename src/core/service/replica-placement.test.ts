import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { playersOf, roleOf } from "../base/players.ts";
import { ranksByNode } from "./placement.ts";
import { placedApart, ranksTogether } from "./replica-placement.ts";

describe("R1 where replicas are", () => {
  it("no two of a rank are on one node when there are nodes enough, and every node has one", () => {
    for (let ranks = 1; ranks <= 6; ranks++) {
      for (let replicas = 1; replicas <= 4; replicas++) {
        const players = playersOf(new Array<number>(ranks).fill(replicas));
        equal(players.length, ranks * replicas);
        for (let nodes = 1; nodes <= players.length; nodes++) {
          const placement = placedApart(players, nodes);
          ok(ranksByNode(placement, nodes).every(({ length }) => length > 0));
          if (nodes >= replicas) deepEqual(ranksTogether(players, placement), [], `${ranks} × ${replicas} on ${nodes}`);
          else equal(ranksTogether(players, placement).length, ranks);
        }
      }
    }
  });

  it("a world is on few nodes: the first half of the nodes has the first replicas", () => {
    deepEqual([...placedApart(playersOf([2, 2, 2, 2]), 4)], [0, 0, 1, 1, 2, 2, 3, 3]);
  });

  it("R8 of ranks with fewer processes than others as well", () => {
    for (const plan of [
      [2, 1, 1, 1],
      [3, 1, 2, 1],
      [1, 1, 1, 2],
      [2, 2, 1, 1, 1, 1],
    ]) {
      const players = playersOf(plan);
      for (let nodes = Math.max(...plan); nodes <= players.length; nodes++) {
        deepEqual(ranksTogether(players, placedApart(players, nodes)), [], `${plan.join()} on ${nodes}`);
      }
    }
  });

  it("a process knows its rank, its replica and the size of the world", () => {
    const replicas = [2, 1, 2];
    const roles = playersOf(replicas).map((_, rank) => roleOf({ rank, ranks: 5, replicas }));
    deepEqual(
      roles.map(({ rank, replica, ranks }) => [rank, replica, ranks]),
      [
        [0, 0, 3],
        [1, 0, 3],
        [2, 0, 3],
        [0, 1, 3],
        [2, 1, 3],
      ],
    );
    deepEqual(roleOf({ rank: 3, ranks: 5, replicas: null }), { rank: 3, replica: 0, ranks: 5 });
  });
});
