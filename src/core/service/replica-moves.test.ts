import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { type ReplicaMoveOrder, type ReplicaPlaces, replicaMoveOf } from "./replica-moves.ts";

/** Three ranks with two replicas each on nodes 0 to 3, two spares behind them: rank 0 on 0 and 2, rank 1 on 1 and 3, rank 2 on 0 and 3. */
const places: ReplicaPlaces = {
  players: [0, 1, 2].flatMap((rank) => [
    { rank, replica: 0 },
    { rank, replica: 1 },
  ]),
  placement: [0, 2, 1, 3, 0, 3],
  plan: [2, 2, 2],
  nodesFirst: 4,
  nodes: 4,
  spares: 2,
  sparesLeft: [1, 2],
  isNodeAlive: (node) => node < 4,
  stateOf: () => "running",
  roomOf: () => 2,
  roomOfNew: 2,
};
const rank = (
  number: number,
  replica: number | null = null,
  from: number | null = null,
): ReplicaMoveOrder["moved"] => ({
  kind: "rank",
  rank: number,
  replica,
  from,
});
const node = (number: number): ReplicaMoveOrder["moved"] => ({ kind: "node", node: number });

describe("D5 who goes where when a replica is moved", () => {
  it("D5 the last replica that lives, the one that is named, or the one on a node; to the next spare, a node that is there, or one that is started", () => {
    const move = (moved: ReplicaMoveOrder["moved"], onto: number | null, with_: Partial<ReplicaPlaces> = {}) =>
      replicaMoveOf({ ...places, ...with_ }, { moved, onto });
    deepEqual(move(rank(0), null), { processes: [1], from: 2, node: 4, spare: 1 });
    deepEqual(move(rank(0, 0), 5), { processes: [0], from: 0, node: 5, spare: 2 });
    deepEqual(move(rank(0, null, 0), 6), { processes: [0], from: 0, node: 6, spare: 0 });
    deepEqual(move(rank(0), 1), { processes: [1], from: 2, node: 1, spare: null });
    deepEqual(move(node(0), null, { sparesLeft: [2] }), { processes: [0, 4], from: 0, node: 5, spare: 2 });
    deepEqual(move(node(0), null, { sparesLeft: [] }), { processes: [0, 4], from: 0, node: 6, spare: 0 });
    deepEqual(move(rank(0), null, { sparesLeft: [], nodes: 9 }), { processes: [1], from: 2, node: 9, spare: 0 });
    // Its ranks have left it.
    deepEqual(move(rank(0), 1, { isNodeAlive: (each) => each !== 1 }), { processes: [1], from: 2, node: 1, spare: 0 });
    // The last is lost.
    deepEqual(move(rank(0), 1, { stateOf: (each) => (each === 1 ? "dead" : "running") }), {
      processes: [0],
      from: 0,
      node: 1,
      spare: null,
    });
  });

  it("D5 what cannot be is said in one line", () => {
    const obstacle = (
      moved: ReplicaMoveOrder["moved"],
      onto: number | null = null,
      with_: Partial<ReplicaPlaces> = {},
    ) => replicaMoveOf({ ...places, ...with_ }, { moved, onto });
    const dead: Partial<ReplicaPlaces> = { stateOf: () => "dead" };
    deepEqual(
      [
        obstacle(rank(3)),
        obstacle(rank(0, 2)),
        obstacle(rank(0, 0), null, { plan: [1, 2, 2] }),
        obstacle(rank(0, 1), null, { plan: [1, 2, 2] }),
        obstacle(rank(0), null, dead),
        obstacle(rank(0, 1), null, dead),
        obstacle(rank(0, 1, 3)),
        obstacle(rank(0, null, 1)),
        obstacle(node(4)),
        obstacle(node(1), null, dead),
        obstacle(rank(0), null, { stateOf: () => "done" }),
        obstacle(rank(0), 2),
        obstacle(node(2), 2),
        obstacle(rank(0), 0),
        obstacle(node(3), 1),
        obstacle(rank(0), 7),
        obstacle(rank(0), 4, { sparesLeft: [2] }),
        obstacle(rank(0), 5, { sparesLeft: [] }),
        obstacle(rank(0), 1, { roomOf: () => 0 }),
        obstacle(node(0), null, { roomOfNew: 1 }),
        obstacle(rank(0), null, { nodesFirst: 1 }),
      ],
      [
        "the job has ranks 0 to 2",
        "rank 0 has replicas 0 to 1",
        { processes: [0], from: 0, node: 4, spare: 1 },
        "rank 0 has replica 0 alone",
        "rank 0 is lost",
        "replica 1 of rank 0 is lost",
        "replica 1 of rank 0 is not on node 3",
        "rank 0 is not on node 1",
        "the job has nodes 0 to 3",
        "it has no ranks",
        "the program of rank 0 is over there",
        "it is on node 2 already",
        "its ranks are on node 2 already",
        "node 0 has replica 0 of rank 0, and one loss would take both",
        "node 1 has replica 0 of rank 1, and one loss would take both",
        "the next node that can be started is 6",
        "spare 1 is not in reserve; spares in reserve: 2",
        "spare 2 is not in reserve; spares in reserve: none",
        "node 1 has no place more, and 1 is wanted",
        "node 4 has places for 1 more, and 2 are wanted",
        "the job began on one node, whose ranks are connected with no other",
      ],
    );
  });

  it("D5 whatever is wanted: nobody comes to a node that has another replica of the rank, and no number is that of two", () => {
    let moves = 0;
    for (const spares of [0, 1, 2]) {
      for (const dead of [-1, 0, 1, 2, 3, 4, 5]) {
        for (const onto of [null, 0, 1, 2, 3, 4, 5, 6, 7]) {
          const wanted = [node(0), node(1), node(2), node(3), rank(0), rank(1, 0), rank(2, 1), rank(2, null, 0)];
          for (const moved of wanted) {
            const sparesLeft = [1, 2].slice(0, spares);
            const now: ReplicaPlaces = {
              ...places,
              spares,
              sparesLeft,
              stateOf: (process) => (process === dead ? "dead" : "running"),
            };
            const move = replicaMoveOf(now, { moved, onto });
            if (typeof move === "string") continue;
            moves++;
            const after = places.placement.map((each, process) =>
              move.processes.includes(process) ? move.node : each,
            );
            for (let each = 0; each < 3; each++) ok(after[2 * each] !== after[2 * each + 1], JSON.stringify(move));
            ok(!move.processes.includes(dead));
            ok(move.processes.every((process) => places.placement[process] === move.from));
            if (onto !== null) equal(move.node, onto);
            equal(move.spare === null, move.node < 4);
            if (move.spare !== null && move.spare > 0) equal(move.node, 3 + move.spare);
          }
        }
      }
    }
    ok(moves > 200, `${moves} moves`);
  });
});
