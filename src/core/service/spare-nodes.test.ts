import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { SpareNodes } from "./spare-nodes.ts";

describe("D5 who takes the place of a lost node", () => {
  it("D5 spares in their order, then processes that are started for it, then nobody", () => {
    const nodes = new SpareNodes(2, 1);
    deepEqual(
      [3, 3, 3, 3, 0, 0].map((node) => nodes.successorOf(node)?.spare ?? null),
      [1, 2, 0, null, 0, null],
    );
  });

  it("D5 a place whose ranks were back in between is taken as often as it is lost", () => {
    const nodes = new SpareNodes(0, 1);
    for (let loss = 0; loss < 9; loss++) {
      equal(nodes.successorOf(3)?.spare, 0);
      nodes.regained(3);
    }
    equal(nodes.successorOf(3)?.spare, 0);
    equal(nodes.successorOf(3), null);
  });

  it("D5 a spare that has a place of its own, or is gone, takes nobody's", () => {
    const nodes = new SpareNodes(4, 1);
    nodes.take(3);
    nodes.lost(4);
    deepEqual(
      [7, 8, 7, 7].map((node) => nodes.successorOf(node)?.spare ?? null),
      [1, 2, 0, null],
    );
  });

  it("D5 a spare that is gone takes nobody's place, and none takes two", () => {
    const event = fc.record({ isLoss: fc.boolean(), number: fc.integer({ min: 0, max: 6 }) });
    fc.assert(
      fc.property(fc.nat(5), fc.nat(2), fc.array(event, { maxLength: 20 }), (spares, startsMax, events) => {
        const nodes = new SpareNodes(spares, startsMax);
        const spent = new Set<number>();
        const starts = new Map<number, number>();
        for (const { isLoss, number } of events) {
          if (isLoss) {
            equal(nodes.lost(number), number > 0 && number <= spares && !spent.has(number));
            spent.add(number);
            continue;
          }
          const left = Array.from({ length: spares }, (_, i) => i + 1).filter((spare) => !spent.has(spare));
          deepEqual(nodes.left, left);
          const started = starts.get(number) ?? 0;
          const expected = left[0] ?? (started < startsMax ? 0 : null);
          equal(nodes.successorOf(number)?.spare ?? null, expected);
          if (expected === 0) starts.set(number, started + 1);
          else if (expected !== null) spent.add(expected);
        }
      }),
    );
  });
});
