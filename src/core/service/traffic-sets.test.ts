import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "../base/testing/properties.ts";
import { placedInBlocks, ranksOfNode } from "./placement.ts";
import { bytesWithin, placeByTraffic, type Traffic } from "./traffic-sets.ts";

const empty = (ranks: number): number[][] => Array.from({ length: ranks }, () => new Array<number>(ranks).fill(0));

describe("L3 §6: sets by measured traffic", () => {
  it("ranks that speak with each other are on one node, wherever their numbers are", () => {
    const traffic = empty(8);
    for (let rank = 0; rank < 8; rank++) traffic[rank]![(rank + 4) % 8] = 1000;
    const placement = placeByTraffic(traffic, placedInBlocks(8, 4));
    equal(bytesWithin(traffic, placement), 8000);
    equal(bytesWithin(traffic, placedInBlocks(8, 4)), 0);
  });

  it("rows of a grid that are columns of its numbering", () => {
    const traffic = empty(16);
    for (let rank = 0; rank < 16; rank++) {
      traffic[rank]![(rank + 4) % 16] = 100;
      traffic[rank]![4 * Math.floor(rank / 4) + ((rank + 1) % 4)] = 10;
    }
    const placement = placeByTraffic(traffic, placedInBlocks(16, 4));
    equal(bytesWithin(traffic, placement), 1600);
  });

  it("stays with blocks where nothing is better", () => {
    const blocks = placedInBlocks(7, 3);
    deepEqual(placeByTraffic(empty(7), blocks), blocks);
    const ring = empty(8);
    for (let rank = 0; rank < 8; rank++) ring[rank]![(rank + 1) % 8] = 5;
    deepEqual(placeByTraffic(ring, placedInBlocks(8, 2)), placedInBlocks(8, 2));
  });

  it("is never worse than blocks, and every node keeps its number of places", () => {
    const size = fc.record({ ranks: fc.integer({ min: 1, max: 12 }), nodes: fc.integer({ min: 1, max: 4 }) });
    const jobs = size.chain(({ ranks, nodes }) =>
      fc.record({
        nodes: fc.constant(Math.min(ranks, nodes)),
        traffic: fc.array(fc.array(fc.nat(1000), { minLength: ranks, maxLength: ranks }), {
          minLength: ranks,
          maxLength: ranks,
        }),
      }),
    );
    fc.assert(
      fc.property(jobs, ({ nodes, traffic }: { nodes: number; traffic: Traffic }) => {
        const blocks = placedInBlocks(traffic.length, nodes);
        const placement = placeByTraffic(traffic, blocks);
        ok(bytesWithin(traffic, placement) >= bytesWithin(traffic, blocks));
        for (let node = 0; node < nodes; node++) {
          equal(ranksOfNode(placement, node).length, ranksOfNode(blocks, node).length);
        }
      }),
    );
  });
});
