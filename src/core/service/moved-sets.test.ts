import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { type SetMoveOrder, type SetPlaces, setMoveOf } from "./moved-sets.ts";
import { placedInBlocks, placementOf } from "./placement.ts";

const rank = (number: number): SetMoveOrder["moved"] => ({ kind: "rank", rank: number });
const node = (number: number): SetMoveOrder["moved"] => ({ kind: "node", node: number });

/** Four ranks on two nodes, whose ranks are a set. */
const byNode: SetPlaces = { setOf: [0, 0, 1, 1], placement: placedInBlocks(4, 2), nodes: 2, canSplit: true };
const byRank: SetPlaces = { ...byNode, setOf: [0, 1, 2, 3] };

const move = (places: SetPlaces, moved: SetMoveOrder["moved"], onto: number | null, ofNodeMax = 256) =>
  setMoveOf(places, { moved, onto, ofNodeMax });

test("D5 a rank goes alone to a node that is there, or to one that is started; those beside it may have been of its set", () => {
  deepEqual(move(byNode, rank(1), 1), { ranks: [1], from: 0, node: 1, split: 0 });
  deepEqual(move(byNode, rank(3), null), { ranks: [3], from: 1, node: 2, split: 1 });
  deepEqual(move(byRank, rank(1), 1), { ranks: [1], from: 0, node: 1, split: null });
  deepEqual(move(byRank, rank(1), 2), { ranks: [1], from: 0, node: 2, split: null });
});

test("D5 where no rank can become a set of its own its set goes along", () => {
  deepEqual(move({ ...byNode, canSplit: false }, rank(1), 1), { ranks: [0, 1], from: 0, node: 1, split: null });
});

test("D5 a node's ranks go to another node; to one that is started they go by another process in its place", () => {
  deepEqual(move(byNode, node(0), 1), { ranks: [0, 1], from: 0, node: 1, split: null });
  deepEqual(move(byNode, node(0), null), { ranks: [0, 1], from: 0, node: 0, split: null });
  deepEqual(move(byNode, node(0), 2), { ranks: [0, 1], from: 0, node: 0, split: null });
  const alone = { ...byNode, placement: placementOf([0, 1, 1, 1]), setOf: [0, 1, 1, 1] };
  deepEqual(move(alone, rank(0), null), { ranks: [0], from: 0, node: 0, split: null });
});

test("D5 what cannot be is said", () => {
  equal(move(byNode, rank(1), 0), "it is on node 0 already");
  equal(move(byNode, node(1), 1), "its ranks are on node 1 already");
  equal(move(byNode, rank(1), 3), "the job has nodes 0 to 1, and node 2 can be started");
  equal(move(byNode, rank(1), 1, 2), "node 1 has no room for more ranks");
  equal(move({ ...byNode, placement: placementOf([1, 1, 1, 1]) }, node(0), 1), "it has no ranks");
});

test("D5 whoever is moved, in whatever order: no set is ever on two nodes, and nobody else has another place", () => {
  const orders = [0, 1, 2].flatMap((each) => [0, 1, 2].map((onto) => ({ moved: rank(each), onto })));
  let moves = 0;
  const explore = (places: SetPlaces, left: number): void => {
    const { placement, setOf } = places;
    for (const [one, set] of setOf.entries())
      for (const [other, its] of setOf.entries()) ok(set !== its || placement[one] === placement[other]);
    if (left === 0) return;
    for (const { moved, onto } of orders) {
      const found = move(places, moved, onto);
      if (typeof found === "string" || found.node === found.from) continue;
      moves++;
      const { ranks, node: to, split } = found;
      const after = placement.map((itsNode, each) => (ranks.includes(each) ? to : itsNode));
      const sets = split === null ? setOf : setOf.with(ranks[0]!, Math.max(...setOf) + 1);
      explore(
        { ...places, placement: placementOf(after), setOf: sets, nodes: Math.max(places.nodes, to + 1) },
        left - 1,
      );
    }
  };
  explore({ setOf: [0, 0, 0], placement: placementOf([0, 0, 0]), nodes: 1, canSplit: true }, 3);
  explore({ setOf: [0, 0, 1], placement: placementOf([0, 0, 1]), nodes: 2, canSplit: true }, 3);
  ok(moves > 100, `${moves} moves`);
});
