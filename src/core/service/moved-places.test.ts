import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { type PlaceOrder, type Places, placesAfter } from "./moved-places.ts";
import { placedInBlocks, placedWithSpares, placementOf, ranksOfNode } from "./placement.ts";

const ofNodeMax = 256;

const placesOf = (ranks: number, nodes: number): Places => ({
  ranks,
  nodes,
  placement: placedWithSpares(ranks, nodes),
  starts: Array.from({ length: nodes }, (_, node) => node + 1),
  started: nodes,
});

const rank = (number: number): PlaceOrder["moved"] => ({ kind: "rank", rank: number });
const node = (number: number): PlaceOrder["moved"] => ({ kind: "node", node: number });

/** Of the job's own ranks alone. */
function after(before: Places, moved: PlaceOrder["moved"], onto: number | null) {
  const found = placesAfter(before, { moved, onto, ofNodeMax });
  if (typeof found === "string") return found;
  const { places, ...rest } = found;
  return { nodes: places.nodes, at: places.placement.slice(0, places.ranks), starts: places.starts, ...rest };
}

test("D5 a rank goes alone: to a node that is there, or to one that is started", () => {
  const four = placesOf(4, 2);
  deepEqual(after(four, rank(1), 1), {
    nodes: 2,
    at: [0, 1, 1, 1],
    starts: [1, 2],
    ranks: [1],
    node: 1,
    emptied: null,
  });
  const alone = { nodes: 3, at: [0, 2, 1, 1], starts: [1, 2, 3], ranks: [1], node: 2, emptied: null };
  deepEqual(after(four, rank(1), 2), alone);
  deepEqual(after(four, rank(1), null), alone);
});

test("D5 a node that is drained has another process in its place, or its ranks are with others and it is none any more", () => {
  const four = placesOf(4, 2);
  const again = { nodes: 2, at: [0, 0, 1, 1], starts: [3, 2], ranks: [0, 1], node: 0, emptied: null };
  deepEqual(after(four, node(0), null), again);
  deepEqual(after(four, node(0), 2), again);
  deepEqual(after(four, node(0), 1), { nodes: 1, at: [0, 0, 0, 0], starts: [2], ranks: [0, 1], node: 0, emptied: 0 });
  deepEqual(after(placesOf(2, 2), rank(1), null), {
    nodes: 2,
    at: [0, 1],
    starts: [1, 3],
    ranks: [1],
    node: 1,
    emptied: null,
  });
});

test("D5 what cannot be is said with what could", () => {
  const four = placesOf(4, 2);
  equal(after(four, rank(1), 3), "the job has nodes 0 to 1, and node 2 can be started");
  equal(after(four, rank(1), 0), "it is on node 0 already");
  equal(after(four, node(1), 1), "its ranks are on node 1 already");
  equal(after(placesOf(2, 1), rank(1), 2), "the job has node 0 alone, and node 1 can be started");
  const full = { ...four, placement: placedInBlocks(4, 2) };
  equal(placesAfter(full, { moved: rank(1), onto: 1, ofNodeMax: 2 }), "node 1 has no room for more ranks");
});

test("D5 after any three moves of up to four ranks every node has a rank, only those that were named have moved, and every process was started once", () => {
  let orders = 0;
  const explore = (before: Places, depth: number): void => {
    if (depth === 0) return;
    const moved = [
      ...Array.from({ length: before.ranks }, (_, each) => rank(each)),
      ...Array.from({ length: before.nodes }, (_, each) => node(each)),
    ];
    for (const what of moved) {
      for (const onto of [null, ...Array.from({ length: before.nodes + 1 }, (_, each) => each)]) {
        const found = placesAfter(before, { moved: what, onto, ofNodeMax });
        if (typeof found === "string") continue;
        orders++;
        const { places, ranks, node: to } = found;
        check(before, places, { ranks, to });
        explore(places, depth - 1);
      }
    }
  };
  for (let ranks = 1; ranks <= 4; ranks++) {
    for (let nodes = 1; nodes <= Math.min(ranks, 3); nodes++) {
      // Two may be spawned.
      const placement = placementOf([...placedInBlocks(ranks, nodes), 0, nodes - 1]);
      explore({ ...placesOf(ranks, nodes), placement }, 3);
    }
  }
  ok(orders > 5_000, `${orders}`);
});

function check(
  before: Places,
  { ranks, nodes, placement, starts, started }: Places,
  moved: { ranks: readonly number[]; to: number },
): void {
  equal(placement.length, before.placement.length);
  equal(starts.length, nodes);
  equal(new Set(starts).size, nodes);
  ok(started <= before.started + 1 && Math.max(...starts) <= started);
  ok(placement.every((each) => each >= 0 && each < nodes));
  for (let each = 0; each < nodes; each++) ok(ranksOfNode(placement, each).some((process) => process < ranks));
  for (let each = 0; each < ranks; each++) {
    const [was, is] = [before.starts[before.placement[each]!], starts[placement[each]!]];
    if (moved.ranks.includes(each)) {
      equal(placement[each], moved.to);
      ok(is !== was);
    } else equal(is, was);
  }
}
